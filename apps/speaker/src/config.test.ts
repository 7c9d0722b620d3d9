import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@kube-ovn/process'
import { expect, it } from 'vitest'
import { command, speakerOptions, type SpeakerConfig } from './config.ts'

const required = ['--cluster-as=65000', '--neighbor-as=65001', '--neighbor-address=192.0.2.9,192.0.2.10']

function configOf(
  flags: readonly string[],
  environment: Record<string, string> = { NODE_NAME: 'node-1' },
): SpeakerConfig {
  const parsed = readConfig(command, [...flags], environment)
  if (parsed.kind === 'help') throw new Error('no configuration')
  return parsed.config
}

it('reads flags of upstream', () => {
  const flags = [
    '--neighbor-ipv6-address=2001:db8::9',
    '--holdtime=30s',
    '--graceful-restart',
    '--ebgp-multihop=3',
  ]
  const environment = { NODE_NAME: 'node-1', POD_IPS: 'fd00::5,172.18.0.5' }
  expect(speakerOptions(configOf([...required, ...flags], environment))).toMatchObject({
    ...{ as: 65_000, identifier: '172.18.0.5', holdTimeS: 30, listenPort: 179 },
    gracefulRestart: { timeS: 90, deferralS: 360 },
    peers: [
      { address: '192.0.2.9', as: 65_001, families: ['ipv4'], isPassive: false, ttl: 3 },
      { address: '192.0.2.10', families: ['ipv4'] },
      { address: '2001:db8::9', families: ['ipv6'], extendedNextHop: false },
    ],
  })
})

it('speaks IPv4 over IPv6 when it is told to, and far away within an AS', () => {
  const flags = ['--cluster-as=65000', '--neighbor-as=65000', '--neighbor-ipv6-address=2001:db8::9']
  expect(speakerOptions(configOf([...flags, '--extended-nexthop', '--holdtime=65536s']))).toMatchObject({
    holdTimeS: 65_535,
    gracefulRestart: undefined,
    peers: [{ families: ['ipv6', 'ipv4'], extendedNextHop: true, ttl: 64 }],
  })
})

it('has an identifier without any IPv4 address', () => {
  const of = (name: string): string =>
    speakerOptions(configOf(required, { NODE_NAME: name, POD_IP: 'fd00::5' })).identifier
  expect(of('node-1')).toMatch(/^\d+(\.\d+){3}$/)
  expect([of('node-1') === of('node-1'), of('node-1') === of('node-2')]).toEqual([true, false])
})

it('names all that is missing', () => {
  expect(() => speakerOptions(configOf([], {}))).toThrow(
    expect.objectContaining({
      details: expect.objectContaining({
        value:
          'missing required flags: --cluster-as, --neighbor-as, ' +
          '--neighbor-address or --neighbor-ipv6-address, --node-name',
      }),
    }),
  )
})

it('takes the password out of a file', () => {
  const directory = mkdtempSync(join(tmpdir(), 'speaker-'))
  try {
    const path = join(directory, 'password')
    writeFileSync(path, 'secret\n')
    const passwords = speakerOptions(configOf([...required, `--auth-password-file=${path}`])).peers.map(
      ({ password }) => password,
    )
    expect(passwords).toEqual(['secret', 'secret'])
    rmSync(path)
    expect(() => speakerOptions(configOf([...required, `--auth-password-file=${path}`]))).toThrow(
      'configuration is invalid',
    )
  } finally {
    rmSync(directory, { recursive: true })
  }
})

it('refuses what is not there yet and can not be left out', () => {
  expect(() => speakerOptions(configOf([...required, '--nat-gw-mode']))).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ field: 'nat-gw-mode' }) }),
  )
})
