import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { run } from './command.ts'
import { CommandFailedError, missingForNamespaces, openTestNetwork } from './index.ts'

const missing = missingForNamespaces('ping')

describe.skipIf(missing)(`test network${missing === undefined ? '' : ` (${missing})`}`, () => {
  it('joins namespaces so that packets flow in both families', async () => {
    using network = openTestNetwork()
    const left = network.namespace('left')
    const right = network.namespace('right')
    network.connect(
      { namespace: left, name: 'eth0', addresses: ['10.0.0.1/24', 'fd00::1/64'] },
      { namespace: right, name: 'eth0', addresses: ['10.0.0.2/24', 'fd00::2/64'] },
    )
    // The kernel gives a new link to IPv6 when it gets to it.
    for (const address of ['10.0.0.2', 'fd00::2'])
      await expect.poll(() => left.run('ping', '-c1', '-W2', address)).toContain('1 received')
  })

  it('leaves nothing behind when disposed of', () => {
    const network = openTestNetwork()
    const { path } = network.namespace('gone')
    expect(existsSync(path)).toBe(true)
    network[Symbol.dispose]()
    expect(existsSync(path)).toBe(false)
  })

  it('removes what processes have left that are no more, along with others who do', async () => {
    const { pid } = spawnSync('true')
    const left = Array.from({ length: 40 }, (_, index) => `test-${pid}-${index}-left`)
    for (const name of left) run('ip', ['netns', 'add', name])
    const open = `(await import(${JSON.stringify(join(import.meta.dirname, 'network.ts'))})).openTestNetwork()`
    const others = Array.from({ length: 3 }, () =>
      spawn(process.execPath, ['--input-type=module', '--eval', open], { stdio: 'inherit' }),
    )
    expect(await Promise.all(others.map((other) => once(other, 'close')))).toEqual(
      others.map(() => [0, null]),
    )
    expect(readdirSync('/run/netns').filter((name) => left.includes(name))).toEqual([])
  })

  it('tells what a failed command printed', () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    expect(() => space.run('ip', 'link', 'show', 'nothing')).toThrow(CommandFailedError)
    expect(() => space.run('ip', 'link', 'show', 'nothing')).toThrow(/does not exist/)
  })
})
