"""The work of the commands of `dpassay`, their options and exit statuses."""
