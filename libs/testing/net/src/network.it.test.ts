import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CommandFailedError, missingForNamespaces, openTestNetwork } from './index.ts'

const missing = missingForNamespaces('ping')

describe.skipIf(missing)(`test network${missing === undefined ? '' : ` (${missing})`}`, () => {
  it('joins namespaces so that packets flow in both families', () => {
    using network = openTestNetwork()
    const left = network.namespace('left')
    const right = network.namespace('right')
    network.connect(
      { namespace: left, name: 'eth0', addresses: ['10.0.0.1/24', 'fd00::1/64'] },
      { namespace: right, name: 'eth0', addresses: ['10.0.0.2/24', 'fd00::2/64'] },
    )
    expect(left.run('ping', '-c1', '-W2', '10.0.0.2')).toContain('1 received')
    expect(left.run('ping', '-c1', '-W2', 'fd00::2')).toContain('1 received')
  })

  it('leaves nothing behind when disposed of', () => {
    const network = openTestNetwork()
    const { path } = network.namespace('gone')
    expect(existsSync(path)).toBe(true)
    network[Symbol.dispose]()
    expect(existsSync(path)).toBe(false)
  })

  it('tells what a failed command printed', () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    expect(() => space.run('ip', 'link', 'show', 'nothing')).toThrow(CommandFailedError)
    expect(() => space.run('ip', 'link', 'show', 'nothing')).toThrow(/does not exist/)
  })
})
