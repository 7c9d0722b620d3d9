/**
 * Writes the page of error codes from the error classes.
 *
 *     node tools/generate/src/errors/main.ts            write
 *     node tools/generate/src/errors/main.ts --check    exit 1 when the page is stale, or a code is used twice or undocumented
 */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fail, formatted, root, writeGenerated } from '../generated-file.ts'
import { errorClasses } from './error-classes.ts'
import { renderErrors, type ErrorSection } from './page.ts'

const page = 'docs/reference/errors.md'

const sections = readSections()
for (const problem of problems(sections)) fail(problem)
writeGenerated('errors', page, await formatted(page, renderErrors(sections)))

/** The projects with errors, libs first: what users meet comes before our tools. */
function readSections(): readonly ErrorSection[] {
  const patterns = [
    ...['core', 'model', 'io', 'runtime', 'domains', 'features', 'assembly'].map(
      (layer) => `libs/${layer}/*`,
    ),
    'apps/*',
    'tools/*',
    'libs/testing/*',
  ]
  return patterns
    .flatMap((pattern) => globSync(`${pattern}/package.json`, { cwd: root }).toSorted())
    .map((path) => ({ project: projectName(path), errors: errorsOf(dirname(path)) }))
    .filter(({ errors }) => errors.length > 0)
}

function projectName(path: string): string {
  return (JSON.parse(readFileSync(join(root, path), 'utf8')) as { readonly name: string }).name
}

function errorsOf(directory: string): ErrorSection['errors'] {
  return globSync(`${directory}/src/**/*.ts`, {
    cwd: root,
    exclude: ['**/generated/**', '**/src/testing/**', '**/*.test.ts', '**/*[.-]fixture.ts'],
  })
    .toSorted()
    .flatMap((path) => errorClasses(path, readFileSync(join(root, path), 'utf8')))
}

function problems(all: readonly ErrorSection[]): readonly string[] {
  const seen = new Set<string>()
  return all
    .flatMap(({ errors }) => errors)
    .flatMap(({ code, name, meaning }) => {
      const isKnown = seen.has(code)
      seen.add(code)
      return [
        ...(isKnown ? [`code ${code} of ${name} is taken by another class`] : []),
        ...(/^[a-z0-9]+(-[a-z0-9]+)*$/.test(code) ? [] : [`code ${code} of ${name} is not kebab-case`]),
        ...(meaning === '' ? [`${name} has no doc comment`] : []),
      ]
    })
}
