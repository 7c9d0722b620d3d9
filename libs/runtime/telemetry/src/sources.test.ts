import { recordingLogger } from '@kube-ovn/log'
import { expect, it } from 'vitest'
import { Sources } from './sources.ts'

it('counts every failure, and logs only what changes', () => {
  const log = recordingLogger()
  const sources = new Sources(log)
  sources.answered('northbound')
  for (const reason of ['ENOENT', 'EACCES']) sources.failed('southbound', new Error(reason))
  expect(Object.fromEntries(sources.states)).toEqual({ northbound: true, southbound: false })
  expect(sources.failures).toBe(2)
  sources.answered('southbound')
  sources.answered('southbound')
  expect(log.lines.map(({ level, message, fields }) => [level, message, fields?.['source']])).toEqual([
    ['warn', 'source does not answer', 'southbound'],
    ['info', 'source answers again', 'southbound'],
  ])
  expect(sources.states.get('southbound')).toBe(true)
})

it('tells of what changes, until that is not wanted any more', () => {
  const sources = new Sources(recordingLogger())
  let changes = 0
  const told = sources.onChange(() => changes++)
  sources.answered('northbound')
  sources.answered('northbound')
  sources.failed('northbound', new Error('ENOENT'))
  sources.failed('northbound', new Error('EACCES'))
  expect(changes).toBe(2)
  told[Symbol.dispose]()
  sources.answered('northbound')
  expect(changes).toBe(2)
})
