"""What phones in a class load and ask: a small page of its own, without Streamlit, and the server's answers to it.

``routes``   the addresses below ``/join``, as middleware of the page server
``streams``  tells each open phone and projector of changes
``desks``    the keys by which a lecturer's own browser asks for what only a lecturer may do
``invite``   the address that phones open, and its QR code
"""
