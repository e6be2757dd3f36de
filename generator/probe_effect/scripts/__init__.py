"""From the text of a tracing script to its probes, and what it does at each event; this starts and opens nothing.

No grammar of bpftrace's language is published as a package that a lock could pin, and the site's page needs the same
reader in JavaScript, so this one is our own.
"""
