/**
 * Writes a page for each command of kubectl-ko, which is what the command's own help says.
 *
 *     node tools/generate/src/kubectl-ko/main.ts            write
 *     node tools/generate/src/kubectl-ko/main.ts --check    exit 1 when a page is stale
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
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

const generator = 'kubectl-ko'
const directory = 'docs/reference/kubectl-ko'

// Whoever imports it would import a program. It may look at its surroundings, which are not to be in the pages.
const env = { PATH: process.env['PATH'] ?? '' }
const program = join(root, 'apps/kubectl-ko/src/help-pages.fixture.ts')
const pages = JSON.parse(
  execFileSync(process.execPath, [program], { env, encoding: 'utf8', maxBuffer: 1 << 24 }),
) as readonly Page[]

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

What each is for, with what it prints, is told in [kubectl ko](../../user/kubectl-ko.md). These pages are what \`--help\` says.

| Command | Does |
| --- | --- |
${rows.join('\n')}
`
}

function renderPage({ parts }: Page): string {
  return parts
    .map(
      ({ name, text }, index) =>
        `${index === 0 ? '#' : '##'} kubectl ko ${name}\n\n\`\`\`text\n${text.trim()}\n\`\`\`\n`,
    )
    .join('\n')
}

/** Bars part the columns of a table, and angle brackets are taken for HTML. */
function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`).replaceAll('<', '&lt;')
}
