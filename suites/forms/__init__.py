"""Forms: functions that turn the declaration of an op into specs, with the recipes and contracts of that form."""
