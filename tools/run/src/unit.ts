import { isPassed, runProject } from './vitest.ts'

/** Runs the unit tests below a folder of the checkout, for nx; `test.ts` reads what they gave. */
const [root = ''] = process.argv.slice(2)
process.exitCode = isPassed([await runProject('unit', [`${root}/`], `unit/${root}`)]) ? 0 : 1
