import { describe, expect, it } from 'vitest'
import { LabUsageError } from '../errors.ts'
import { isBlow } from './fault.ts'
import { faultWords, parseFault } from './words.ts'

describe('faults in words', () => {
  it.each([
    'pause node-1',
    'pause ovn-controller@node-2',
    'stop etcd@control',
    'stop node-2',
    'partition node-1',
    'partition node-1 tunnel',
    'partition node-1 node-2',
    'partition node-2 southbound',
    'full-disk northbound@node-1',
    'slow-disk southbound@node-1 250',
    'clock controller@node-1 -3600',
    'api-server write:status=429 delay=250 watch:refuse drop-watches=500',
  ])('"%s" is read and written the same', (text) => {
    const fault = parseFault(text.split(' '))
    expect(isBlow(fault) ? 'a blow' : faultWords(fault)).toBe(text)
  })

  it('knows what happens once', () => {
    expect(parseFault(['kill', 'vswitchd@node-1'])).toEqual({
      kind: 'kill',
      target: { component: 'vswitchd', machine: 'node-1' },
    })
    expect(parseFault(['compact'])).toEqual({ kind: 'compact' })
  })

  it.each([
    ['', 'nothing'],
    ['explode node-1', 'explode'],
    ['kill node-1', 'node-1'],
    ['kill toaster@node-1', 'toaster@node-1'],
    ['pause agent@', 'nothing'],
    ['stop agent@node-1', 'agent@node-1'],
    ['full-disk northd@node-1', 'northd@node-1'],
    ['slow-disk kubelet@node-1 5', 'kubelet@node-1'],
    ['slow-disk northbound@node-1 slowly', 'slowly'],
    ['clock vswitchd@node-1 5', 'vswitchd@node-1'],
    ['clock agent@node-1 soon', 'soon'],
    ['partition', 'nothing'],
    ['partition node-1 node-1', 'node-1'],
    ['kill agent@node-1 agent@node-2', 'agent@node-2'],
    ['partition node-1 tunnel physical', 'physical'],
    ['compact now', 'now'],
    ['api-server', 'api-server'],
    ['api-server status=200', 'status=200'],
    ['api-server delay=long', 'delay=long'],
  ])('names what it does not understand in "%s"', (text, argument) => {
    try {
      parseFault(text === '' ? [] : text.split(' '))
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(LabUsageError)
      expect(error).toMatchObject({ details: { argument } })
    }
  })
})
