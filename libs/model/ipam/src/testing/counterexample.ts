import fc from 'fast-check'

/**
 * Looks for a story that contradicts the property, and prints with which seed, so that it can be looked for again.
 *
 * Answers what was found, for a test to expect nothing.
 */
export function counterexample<T extends [unknown, ...unknown[]]>(
  name: string,
  property: fc.IPropertyWithHooks<T>,
  parameters: fc.Parameters<T>,
): string | undefined {
  // Refusals are answers here, by the hundred thousand, and nobody reads where they were thrown.
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  const details = fc.check(property, parameters)
  Error.stackTraceLimit = before
  process.stdout.write(`${name}: seed ${details.seed}, ${details.numRuns} runs\n`)
  return details.failed ? `${String(details.errorInstance)}\n${fc.defaultReportMessage(details)}` : undefined
}
