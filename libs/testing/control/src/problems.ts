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
    .filter(({ level }) => level === 'warn' || level === 'error')
    .filter((line, index) => line.message !== 'key waits for a change' || (ends.get(keyOf(line)) ?? -1) < index)
    .map(({ message, fields }) => `${message}: ${JSON.stringify(fields['err'] ?? fields, plainValue)}`)
}

function keyOf({ fields }: LogLine): string {
  return JSON.stringify([fields['feature'], fields['key']])
}
