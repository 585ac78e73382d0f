class Error(Exception):
    """What the library raises: one line for people.

    code: "usage" (a value is out of its range), "not found", "corrupt", "unsupported", "resource" or "non-finite".
    """

    def __init__(self, message, code="usage"):
        super().__init__(message)
        self.code = code
