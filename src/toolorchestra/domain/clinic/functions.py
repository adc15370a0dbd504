"""All functions of the clinic: a new one is one line here."""

from __future__ import annotations

from toolorchestra.domain.clinic.appointments import (
    book_appointment,
    cancel_appointment,
    find_slots,
    move_appointment,
)
from toolorchestra.domain.clinic.invoices import list_invoices, pay_invoice
from toolorchestra.domain.clinic.lookups import (
    get_medicine,
    get_rules,
    get_schedule,
    list_doctors,
    list_rooms,
    list_services,
)
from toolorchestra.domain.clinic.patients import (
    change_phone,
    find_patient,
    get_patient,
    list_appointments,
    set_allergies,
    set_preferred_doctors,
)
from toolorchestra.domain.clinic.prescriptions import (
    list_prescriptions,
    renew_prescription,
    stop_prescription,
)
from toolorchestra.domain.clinic.waiting import (
    join_waiting_list,
    leave_waiting_list,
    list_waiting,
    take_leave,
)

FUNCTIONS = (
    get_rules,
    list_services,
    list_rooms,
    list_doctors,
    get_schedule,
    get_medicine,
    find_patient,
    get_patient,
    list_appointments,
    list_invoices,
    list_prescriptions,
    list_waiting,
    find_slots,
    book_appointment,
    move_appointment,
    cancel_appointment,
    join_waiting_list,
    leave_waiting_list,
    renew_prescription,
    stop_prescription,
    pay_invoice,
    change_phone,
    set_allergies,
    set_preferred_doctors,
    take_leave,
)
