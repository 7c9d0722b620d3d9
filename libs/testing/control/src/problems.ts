import type { LogLine } from '@kube-ovn/log'
import { plainValue } from './plain-value.ts'

/**
 * Warnings and errors, without those of keys that waited for a change and got it: which of two objects that are made at once is seen
 * first is nobody's to say.
 */
export function problemsOf(lines: readonly LogLine[]): readonly string[] {
  const ends = new Map<string, number>()
  for (const [index, line] of lines.entries())
    if (line.message === 'problem is over') ends.set(keyOf(line), index)
  return lines
    .filter((line, index) => isProblem(line) && !(isWaiting(line) && index < (ends.get(keyOf(line)) ?? -1)))
    .map(({ message, fields }) => `${message}: ${JSON.stringify(fields['err'] ?? fields, plainValue)}`)
}

function isProblem({ level }: LogLine): boolean {
  return level === 'warn' || level === 'error'
}

function isWaiting({ message }: LogLine): boolean {
  return message === 'key waits for a change'
}

function keyOf({ fields }: LogLine): string {
  return JSON.stringify([fields['feature'], fields['key']])
}
