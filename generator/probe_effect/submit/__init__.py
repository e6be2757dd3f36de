"""From folders on this disk to a pull request: what is not published yet, what is private in it, branch and commit."""
