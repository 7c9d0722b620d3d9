import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bgpPeerResource } from '@kube-ovn/kube-api'
import { missingForGobgp } from '@kube-ovn/testing-bgp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { own, router, SpeakerNode } from './speaker-fixture.ts'

const missing = missingForGobgp()
const password = 'top-secret'
const warning = 'password can be read by everybody who may read the pod'

describe.skipIf(missing)(`passwords${missing === undefined ? '' : ` (${missing})`}`, () => {
  const node = SpeakerNode.ofSuite()
  let directory: string
  let path: string

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'speaker-'))
    path = join(directory, 'password')
    writeFileSync(path, `${password}\n`)
  })
  afterAll(() => rmSync(directory, { recursive: true }))

  /** A file with both neighbours, each of which names that of its password. */
  function neighborsFile(): string {
    const file = join(directory, 'neighbors.json')
    const neighbors = [router.ipv4, router.ipv6].map((address) => ({ address, passwordFile: path }))
    writeFileSync(file, JSON.stringify(neighbors))
    return file
  }

  function warnings(): readonly unknown[] {
    return node.log.lines.filter(({ message }) => message === warning)
  }

  /** Whatever anybody can read of a speaker. */
  async function expectUntold(): Promise<void> {
    const { items } = await node.api.client.list(bgpPeerResource)
    const shown = JSON.stringify([node.log.lines, items, await node.registry.metrics()])
    expect(shown).toContain('192.0.2.2')
    expect(shown).not.toContain(password)
  }

  it.each([
    { how: 'of the flag of upstream, with a warning', flag: () => `--auth-password=${password}`, warned: 1 },
    { how: 'of a file', flag: () => `--auth-password-file=${path}`, warned: 0 },
    { how: 'of a file of a neighbour', flag: () => `--neighbors-file=${neighborsFile()}`, warned: 0 },
  ])('sign sessions, $how, and are told to nobody', async ({ flag, warned }) => {
    await node.createSubnet('red', '10.16.0.0/16,fd00:10:16::/112', 'true')
    await node.restartRouter({ password })
    node.start(flag())
    await expect.poll(() => node.told()).toEqual({ '10.16.0.0/16': own.ipv4, 'fd00:10:16::/112': own.ipv6 })
    expect(warnings()).toHaveLength(warned)
    if (warned > 0)
      expect(warnings()).toContainEqual(
        expect.objectContaining({ level: 'warn', fields: { cure: 'use --auth-password-file' } }),
      )
    await expectUntold()
  })

  it.each([
    { how: 'another one', ofRouter: 'another', given: () => `--auth-password=${password}` },
    { how: 'one', ofRouter: password, given: () => '--auth-password=' },
  ])(
    'are named as what may be wrong where the router has $how, and told to nobody',
    async ({ ofRouter, given }) => {
      await node.createSubnet('red', '10.16.0.0/16', 'true')
      await node.restartRouter({ password: ofRouter })
      node.start(given(), '--neighbor-ipv6-address=')
      await expect
        .poll(() => node.log.lines)
        .toContainEqual(
          expect.objectContaining({
            ...{ level: 'warn', message: 'BGP session did not come about' },
            fields: expect.objectContaining({
              ...{ field: 'neighbor-address', value: '192.0.2.2' },
              cure: expect.stringContaining('both ends have one password'),
            }),
          }),
        )
      expect(node.told()).toEqual({})
      await expectUntold()
    },
  )
})
