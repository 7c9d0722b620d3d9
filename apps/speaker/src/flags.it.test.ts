import { missingForGobgp } from '@kube-ovn/testing-bgp'
import { describe, expect, it } from 'vitest'
import { own, router, SpeakerNode } from './speaker-fixture.ts'

const missing = missingForGobgp()
const cidr = { ipv4: '10.16.0.0/16', ipv6: 'fd00:10:16::/112' } as const

describe.skipIf(missing)(`flags${missing === undefined ? '' : ` (${missing})`}`, () => {
  const node = SpeakerNode.ofSuite()
  const told = (): Readonly<Record<string, string>> => node.told()
  const both = { [cidr.ipv4]: own.ipv4, [cidr.ipv6]: own.ipv6 }

  async function createSubnet(): Promise<void> {
    await node.createSubnet('red', `${cidr.ipv4},${cidr.ipv6}`, 'true')
  }

  /** Identifiers of the speaker, as the router has heard them. */
  function identifiers(): readonly (string | undefined)[] {
    const found = node.peer.ask('neighbor') as readonly { readonly state: { readonly router_id?: string } }[]
    return [...new Set(found.map(({ state }) => state.router_id))]
  }

  it('say who the speaker is: --router-id', async () => {
    await createSubnet()
    node.start('--router-id=198.51.100.7')
    await expect.poll(told).toEqual(both)
    expect(identifiers()).toEqual(['198.51.100.7'])
  })

  it('have routers dial, on another port: --passivemode, --neighbor-port', async () => {
    await createSubnet()
    await node.restartRouter({ isPassive: false, remotePort: 1179 })
    node.start('--passivemode', '--neighbor-port=1179')
    await expect.poll(told, { timeout: 10_000 }).toEqual(both)
  })

  it('say from where routers are spoken with: --allowed-source-ipv6-addresses', async () => {
    await createSubnet()
    node.start('--allowed-source-ipv6-addresses=2001:db8::99')
    await expect.poll(told).toEqual({ [cidr.ipv4]: own.ipv4 })
    await expect
      .poll(() => node.log.lines)
      .toContainEqual(
        expect.objectContaining({
          message: 'BGP session did not come about',
          fields: expect.objectContaining({
            ...{ peer: router.ipv6, field: 'allowed-source-ipv6-addresses', value: '2001:db8::99' },
            cure: expect.stringContaining(own.ipv6),
          }),
        }),
      )
  })

  it('name addresses in any way to write them', async () => {
    await createSubnet()
    node.start(
      ...['--allowed-source-addresses=192.0.2.99, 192.0.2.1', '--neighbor-ipv6-address=2001:DB8:0::0:2'],
      ...['--allowed-source-ipv6-addresses=2001:DB8:0:0::1'],
    )
    await expect.poll(told).toEqual(both)
  })

  it('leave health checks without metrics: --enable-metrics', async () => {
    for (const [isEnabled, status] of [
      [true, 200],
      [false, 404],
    ] as const) {
      node.start(`--enable-metrics=${isEnabled}`)
      const served = (): readonly string[] | undefined =>
        node.log.lines.find(({ message }) => message === 'metrics served')?.fields?.['endpoints'] as
          readonly string[] | undefined
      await expect.poll(served).toHaveLength(1)
      const { port } = new URL(`http://${served()?.[0]}`)
      const answers = await Promise.all(
        ['livez', 'metrics'].map((path) => fetch(`http://127.0.0.1:${port}/${path}`)),
      )
      expect(answers.map((answer) => answer.status)).toEqual([200, status])
      await node.stop()
    }
  })
})

describe.skipIf(missing)('a node with IPv6 addresses alone', () => {
  const node = SpeakerNode.ofSuite()

  it('is announced by its speaker, with an identifier that is made of its name', async () => {
    await node.createSubnet('red', cidr.ipv6, 'local')
    await node.createPod('web', 'node-1', 'fd00:10:16::5')
    node.here.run('ip', 'address', 'flush', 'dev', 'eth0', 'scope', 'global')
    node.here.run('ip', 'address', 'add', `${own.ipv6}/64`, 'dev', 'eth0', 'nodad')
    node.startWith({ NODE_NAME: 'node-1', POD_IPS: own.ipv6 }, ['--neighbor-address='])
    await expect.poll(() => node.told()).toEqual({ 'fd00:10:16::5/128': own.ipv6 })
    const found = node.peer.ask('neighbor') as readonly {
      readonly state: { readonly neighbor_address: string; readonly router_id?: string }
    }[]
    const heard = found.find(({ state }) => state.neighbor_address === own.ipv6)?.state.router_id
    expect(heard).toMatch(/^(\d+\.){3}\d+$/)
  })
})
