"""The clients, asynchronous or made from those."""
