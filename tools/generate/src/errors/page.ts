import type { ErrorClass } from './error-classes.ts'

/** The errors of one project. */
export interface ErrorSection {
  readonly project: string
  readonly errors: readonly ErrorClass[]
}

/** The page of all error codes. */
export function renderErrors(sections: readonly ErrorSection[]): string {
  return `<!-- Generated from the error classes by tools/generate/src/errors/main.ts. Do not edit. -->

# Errors

Logs, events and conditions name the \`code\` of an error. It never changes; the message is for people and may.
What varies is in the fields beside it: usually \`field\`, \`value\` and \`cure\`.

| Retry | What happens, and what to do |
| --- | --- |
| \`backoff\` | Tried again, later each time: the world may change by itself. Look at it if it lasts. |
| \`on-change\` | Not tried again before an input changes. Follow the \`cure\`; an event or a condition names it. |
| \`never\` | A defect, or a command line that can not work. Not tried again. Report it with the log line. |

${sections.map(renderSection).join('\n')}`
}

function renderSection({ project, errors }: ErrorSection): string {
  const rows = errors.map(({ code, retry, meaning }) => `| \`${code}\` | ${retry} | ${escaped(meaning)} |`)
  return `## ${project}\n\n| Code | Retry | Meaning |\n| --- | --- | --- |\n${rows.join('\n')}\n`
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('{', '&#123;')
}
