"""Write an auditor's report as a document of one page.

* ``report_sheet``    what the page says, for every form
* ``html_report, pdf_report``  the page in each form
* ``report_answers``  the answer, and how its signatures get into the document
"""
