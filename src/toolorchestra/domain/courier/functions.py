"""All functions of the parcel service's desk: a new one is one line here."""

from __future__ import annotations

from toolorchestra.domain.courier.account import (
    add_contact,
    confirm_identity,
    end_round,
    send_code,
    set_drop_places,
    set_round,
)
from toolorchestra.domain.courier.claims import claim_damage, refund_late
from toolorchestra.domain.courier.delivery import (
    allow_restart,
    hold_at_point,
    redeliver,
    redirect_parcel,
    reschedule_delivery,
)
from toolorchestra.domain.courier.lookups import (
    find_customer,
    get_customer,
    get_locker_code,
    get_round,
    get_tariff,
    list_charges,
    list_contacts,
    list_parcels,
    list_points,
    list_towns,
    trace_parcel,
)
from toolorchestra.domain.courier.shipping import (
    book_pickup,
    book_shipment,
    cancel_shipment,
    declare_goods,
    insure_parcel,
    quote_shipment,
)

FUNCTIONS = (
    get_tariff,
    list_towns,
    list_points,
    find_customer,
    get_customer,
    list_contacts,
    list_parcels,
    trace_parcel,
    list_charges,
    get_round,
    get_locker_code,
    quote_shipment,
    book_shipment,
    cancel_shipment,
    declare_goods,
    insure_parcel,
    book_pickup,
    redirect_parcel,
    reschedule_delivery,
    hold_at_point,
    redeliver,
    allow_restart,
    claim_damage,
    refund_late,
    send_code,
    confirm_identity,
    add_contact,
    set_drop_places,
    set_round,
    end_round,
)
