import fc from 'fast-check'

/** Checks a property and prints with which seed, so that whatever a run finds can be found again. */
export function assertSeeded<T extends [unknown, ...unknown[]]>(
  name: string,
  property: fc.IPropertyWithHooks<T>,
  parameters: fc.Parameters<T>,
): void {
  // Refusals are answers here, by the hundred thousand, and nobody reads where they were thrown.
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  const details = fc.check(property, parameters)
  Error.stackTraceLimit = before
  console.log(`${name}: seed ${details.seed}, ${details.numRuns} runs`)
  if (!details.failed) return
  const { errorInstance: cause } = details
  throw new Error(`${String(cause)}\n${fc.defaultReportMessage(details)}`, { cause })
}
