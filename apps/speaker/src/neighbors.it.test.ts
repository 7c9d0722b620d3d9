import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bgpPeerResource } from '@kube-ovn/kube-api'
import { missingForGobgp } from '@kube-ovn/testing-bgp'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { own, router, SpeakerNode } from './speaker-fixture.ts'

const missing = missingForGobgp()

describe.skipIf(missing)(`neighbours of a file${missing === undefined ? '' : ` (${missing})`}`, () => {
  const node = SpeakerNode.ofSuite()
  const told = (): Readonly<Record<string, string>> => node.told()
  let path: string

  beforeEach(() => {
    path = join(mkdtempSync(join(tmpdir(), 'speaker-')), 'neighbors.json')
  })
  afterEach(() => rmSync(join(path, '..'), { recursive: true }))

  function start(neighbors: readonly object[]): void {
    writeFileSync(path, JSON.stringify(neighbors))
    node.start('--neighbor-address=', '--neighbor-ipv6-address=', `--neighbors-file=${path}`)
  }

  async function messages(): Promise<Readonly<Record<string, string | undefined>>> {
    const { items } = await node.api.client.list(bgpPeerResource)
    return Object.fromEntries(
      items.map(({ spec, status }) => [spec?.neighbor ?? '', status?.conditions?.[0]?.message]),
    )
  }

  it('that are wrong cost others nothing, and say why', async () => {
    await node.createSubnet('red', '10.16.0.0/16', 'true')
    start([
      { address: '192.0.2.10', passwordFile: '/nowhere' },
      { address: router.ipv4 },
      { address: router.ipv4, as: 65_009 },
    ])
    await expect.poll(told).toEqual({ '10.16.0.0/16': own.ipv4 })
    const field = 'neighbors-file[0].passwordFile'
    await expect.poll(messages).toEqual({
      [router.ipv4]: 'routes are told',
      '192.0.2.10': `setting of BGP is refused: ${field} (${field} is /nowhere: give a file that can be read)`,
    })
    const warned = node.log.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields)
    expect(warned).toContainEqual(expect.objectContaining({ peer: '192.0.2.10', field }))
    expect(warned).toContainEqual(
      expect.objectContaining({ field: 'neighbors-file[2].address', value: router.ipv4 }),
    )
  })

  it('that dial find the speaker as soon as it has the port; others are spoken with before', async () => {
    await node.createSubnet('red', '10.16.0.0/16,fd00:10:16::/112', 'true')
    await node.restartRouter({ isPassive: false })
    const squatter = node.here.start(
      process.execPath,
      '--eval',
      `require('node:net').createServer((socket) => socket.destroy())
        .listen({ port: 179, host: '::', ipv6Only: true }, () => console.log('listening'))`,
    )
    await new Promise((resolve) => squatter.stdout?.once('data', resolve))
    start([{ address: router.ipv4 }, { address: router.ipv6, passive: true }])
    await expect.poll(told).toEqual({ '10.16.0.0/16': own.ipv4 })
    await expect.poll(messages).toMatchObject({
      [router.ipv6]: expect.stringMatching(/EADDRINUSE \(neighbor-port is 179: end the other program/),
    })
    squatter.kill()
    await expect
      .poll(told, { timeout: 10_000 })
      .toEqual({ '10.16.0.0/16': own.ipv4, 'fd00:10:16::/112': own.ipv6 })
  })
})
