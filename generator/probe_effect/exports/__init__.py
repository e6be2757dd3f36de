"""The site's files: everything that Hugo needs, assembled in one folder, and Hugo itself."""
