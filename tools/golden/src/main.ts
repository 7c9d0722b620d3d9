import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findCases, readDifferences, type DeclaredDifference } from '@kube-ovn/testing-golden'
import { playCases } from './play.ts'
import { recordCommand, recordHelp } from './record.ts'
import { printCase } from './report.ts'
import { servedCases } from './served-cases.ts'

const repository = join(import.meta.dirname, '../../..')
const recorded = join(repository, 'libs/testing/golden/cases')

const help = `Replays recorded cases of the original against our controller and prints what differs.

  npm run golden                    the cases that must be equal now
  npm run golden -- base            a group
  npm run golden -- pods/burst      a case
  npm run golden -- FOLDER          any folder of cases, also outside the project
${recordHelp}`

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(help)
    return 0
  }
  if (args[0] === 'record') return recordCommand(repository, args.slice(1))
  const folders = args.length === 0 ? servedCases : args
  const missing = folders.filter((folder) => !existsSync(folderOf(folder)))
  if (missing.length > 0) {
    const groups = readdirSync(recorded).sort().join(', ')
    process.stderr.write(
      `there are no cases ${missing.join(', ')}\n→ a folder, or a group of ${groups}, or a case of one\n`,
    )
    return 2
  }
  const cases = (await Promise.all(folders.map((folder) => findCases(folderOf(folder))))).flat()
  const declared = await readDifferences(join(repository, 'docs/differences.md'))
  console.log('differences declared in docs/differences.md:')
  for (const one of declared) console.log(`  ${describeDeclared(one)}`)

  const logs = await mkdtemp(join(tmpdir(), 'kube-ovn-golden-'))
  console.log(`logs of the controller: ${logs}`)
  let equal = 0
  for await (const played of playCases(cases, repository, declared, logs)) {
    if (printCase(played)) equal++
  }
  console.log(JSON.stringify({ cases: cases.length, equal }))
  return equal === cases.length ? 0 : 1
}

function describeDeclared({
  in: side,
  kind,
  path = ['*'],
  row = {},
  case: name,
  step,
  why,
}: DeclaredDifference): string {
  const of = Object.entries(row).map(([at, pattern]) => `${at}=${pattern}`)
  const where = [name, step].filter((part) => part !== undefined).join(' ')
  const what = [side, kind, ...of, path.join('.'), ...(where === '' ? [] : [`in ${where}`])]
  return `${what.join(' ')}: ${why}`
}

function folderOf(argument: string): string {
  const inside = join(recorded, argument)
  return existsSync(inside) ? inside : argument
}

process.exitCode = await main(process.argv.slice(2))
