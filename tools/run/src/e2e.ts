import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isPassed, renderOutcomes, repository, runProject } from './vitest.ts'

const suffix = '.e2e.test.ts'

const usage = `npm run e2e -- SUITE…     run suites in labs of their own, which they share where they can
npm run e2e -- --list     their names

With KUBECONFIG they run on that cluster, where the chart is installed; what needs the lab's own powers is skipped and says so:

  KUBECONFIG=~/.kube/config npm run e2e -- matrix examples
`

/** The suites by name: the files `tools/e2e/src/NAME.e2e.test.ts`. */
function listSuites(): string[] {
  return readdirSync(join(repository, 'tools/e2e/src'))
    .filter((name) => name.endsWith(suffix))
    .map((name) => name.slice(0, -suffix.length))
    .sort()
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(usage)
    return 0
  }
  const suites = listSuites()
  if (args.includes('--list')) {
    process.stdout.write(suites.map((name) => `${name}\n`).join(''))
    return 0
  }
  const unknown = args.filter((name) => !suites.includes(name))
  if (args.length === 0 || unknown.length > 0) {
    process.stderr.write(`${unknown.length > 0 ? `Unknown suite ${unknown.join(', ')}` : 'No suite given'}; `)
    process.stderr.write(`known: ${suites.join(', ')}\n`)
    return 2
  }
  const outcome = await runProject(
    'e2e',
    args.map((name) => `tools/e2e/src/${name}${suffix}`),
  )
  process.stdout.write(`${renderOutcomes([outcome])}\n`)
  return isPassed([outcome]) ? 0 : 1
}

process.exitCode = await main(process.argv.slice(2))
