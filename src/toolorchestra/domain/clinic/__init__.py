"""A clinic: its patients, doctors, rooms, appointments, prescriptions, invoices, waiting list."""
