/** Prints the help of each command as JSON: the pages of the documentation are made of it, by `npm run generate`. */
import type { Command } from 'commander'
import { Readable, Writable } from 'node:stream'
import { buildProgram } from './program.ts'
import { runCaptured } from './run-captured.ts'

interface Help {
  /** E.g. `nb backup`. */
  readonly name: string
  readonly description: string
  readonly text: string
}

const sink = new Writable()
const { signal } = new AbortController()
const program = buildProgram({
  ...{ stdin: Readable.from([]), stdout: sink, stderr: sink, signal },
  ...{ directory: '/', environment: {}, exitCode: 0 },
})

async function helpOf(command: Command, path: readonly string[]): Promise<readonly Help[]> {
  const own = [...path, command.name()]
  const { stdout: text } = await runCaptured([...own, '--help'])
  const below: Help[] = []
  for (const child of command.commands) below.push(...(await helpOf(child, own)))
  return [{ name: own.join(' '), description: command.description(), text }, ...below]
}

const pages: { readonly name: string; readonly parts: readonly Help[] }[] = []
for (const command of program.commands.filter((one) => one.name() !== '__complete'))
  pages.push({ name: command.name(), parts: await helpOf(command, []) })
process.stdout.write(JSON.stringify(pages))
