/**
 * Writes a page for each command of kubectl-ko: what the command's own help says, and what it printed in the lab when it was last run there
 * (`KUBE_OVN_RECORD=1 npm run e2e -- kubectl-ko` writes runs.json).
 *
 *     node tools/generate/src/kubectl-ko/main.ts            write
 *     node tools/generate/src/kubectl-ko/main.ts --check    exit 1 when a page is stale
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatted, removeGenerated, root, writeGenerated } from '../generated-file.ts'

interface Help {
  readonly name: string
  readonly description: string
  readonly text: string
}

interface Page {
  readonly name: string
  /** The command itself, and then what is below it. */
  readonly parts: readonly Help[]
}

/** What a command printed in the lab. */
interface Run {
  /** The command that it is on the page of. */
  readonly page: string
  readonly command: string
  readonly exitCode: number
  readonly output: string
}

const generator = 'kubectl-ko'
const directory = 'docs/reference/kubectl-ko'

// Whoever imports it would import a program. It may look at its surroundings, which are not to be in the pages.
const env = { PATH: process.env['PATH'] ?? '' }
const program = join(root, 'apps/kubectl-ko/src/help-pages.fixture.ts')
const pages = JSON.parse(
  execFileSync(process.execPath, [program], { env, encoding: 'utf8', maxBuffer: 1 << 24 }),
) as readonly Page[]

const runs = JSON.parse(readFileSync(join(import.meta.dirname, 'runs.json'), 'utf8')) as readonly Run[]

const wanted = new Map<string, string>([
  ['index.md', renderIndex(pages)],
  ...pages.map((page): readonly [string, string] => [`${page.name}.md`, renderPage(page)]),
])
for (const [file, text] of wanted) {
  const path = join(directory, file)
  writeGenerated(generator, path, await formatted(path, text))
}
if (existsSync(join(root, directory))) {
  for (const file of readdirSync(join(root, directory)))
    if (!wanted.has(file)) removeGenerated(generator, join(directory, file))
}

function renderIndex(all: readonly Page[]): string {
  const rows = all.map(
    ({ name, parts: [own] }) => `| [\`${name}\`](./${name}.md) | ${cell(own?.description ?? '')} |`,
  )
  return `# Commands of kubectl ko

What each is for, with what it prints, is told in [kubectl ko](../../user/kubectl-ko.md). These pages are what \`--help\` says,
and what the commands printed in the lab.

| Command | Does |
| --- | --- |
${rows.join('\n')}
`
}

function renderPage({ name: page, parts }: Page): string {
  const shown = runs.filter((run) => run.page === page)
  if (shown.length === 0)
    throw new Error(
      `no run of ${page} is written down: add one to shown-runs.ts, and run KUBE_OVN_RECORD=1 npm run e2e -- kubectl-ko`,
    )
  const helps = parts.map(
    ({ name, text }, index) =>
      `${index === 0 ? '#' : '##'} kubectl ko ${name}\n\n${block('text', text.trim())}`,
  )
  return [...helps, '## What it prints\n', ...shown.map(renderRun)].join('\n')
}

function renderRun({ command, exitCode, output }: Run): string {
  return block(
    'console',
    [`$ ${command}`, output, ...(exitCode === 0 ? [] : [`[exit code ${exitCode}]`])].join('\n'),
  )
}

function block(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\`\n`
}

/** Bars part the columns of a table, and angle brackets are taken for HTML. */
function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`).replaceAll('<', '&lt;')
}
