"""A parcel service: shipments, deliveries, lockers and claims; its users have things to do too."""
