import { parseArgs } from 'node:util'

/** What the generators are told on the command line: to write nothing, to get what they work from first; what to begin. */
export const { values: flags, positionals: request } = parseArgs({
  options: { check: { type: 'boolean', default: false }, fetch: { type: 'boolean', default: false } },
  allowPositionals: true,
})
