import { createLinter, isBoundaryRuleAwake, refreshProjectGraph } from './lint.ts'

/** Of ESLint's own command: by whoever else runs it, the boundary rule reads the whole graph again for each file, as an editor needs it. */
const eslintProgram = 'node_modules/eslint/bin/eslint.js'

async function main(patterns: readonly string[]): Promise<number> {
  await refreshProjectGraph()
  process.argv[1] = eslintProgram
  const linter = createLinter()
  if (!(await isBoundaryRuleAwake(linter))) {
    process.stderr.write('The boundary rule lets a forbidden import pass: is the graph of nx complete?\n')
    return 2
  }
  const results = await linter.lintFiles(patterns.length === 0 ? ['apps', 'libs', 'tools'] : [...patterns])
  const formatter = await linter.loadFormatter('stylish')
  process.stdout.write(await formatter.format(results))
  return results.some((result) => result.messages.length > 0) ? 1 : 0
}

process.exitCode = await main(process.argv.slice(2))
