import type { LogLevel, LogLine } from '@kube-ovn/log'
import { expect, it } from 'vitest'
import { problemsOf } from './problems.ts'

function line(level: LogLevel, message: string, key: string): LogLine {
  return { level, message, fields: { feature: 'vpc', key, err: key } }
}

it('leaves out what waited for something that came, and nothing else', () => {
  const lines = [
    line('warn', 'key waits for a change', 'served'),
    line('warn', 'key waits for a change', 'waiting'),
    line('warn', 'key failed', 'failed'),
    line('info', 'problem is over', 'served'),
    line('info', 'problem is over', 'failed'),
    line('error', 'key parked', 'parked'),
  ]
  expect(problemsOf(lines)).toEqual([
    'key waits for a change: "waiting"',
    'key failed: "failed"',
    'key parked: "parked"',
  ])
})

it('counts what waits once more', () => {
  const lines = [line('info', 'problem is over', 'again'), line('warn', 'key waits for a change', 'again')]
  expect(problemsOf(lines)).toHaveLength(1)
})
