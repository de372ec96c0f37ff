"""Large work of the host shared out among its cores."""
