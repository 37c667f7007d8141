"""The language that pages speak: English at first; another would be chosen here.

Not ``gettext.gettext``: that looks for catalogues on the disk at every call.
"""

from gettext import NullTranslations

LANGUAGE = NullTranslations()
_ = LANGUAGE.gettext
ngettext = LANGUAGE.ngettext
