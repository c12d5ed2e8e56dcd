"""The engine's own steps, such as storing an event, gathering signals and taking the answer."""
