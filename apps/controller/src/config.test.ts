import { missingFeatures, needless } from '@kube-ovn/no-effect'
import { flagsInUse, readConfig, type Settings } from '@kube-ovn/process'
import { secureServingSettings } from '@kube-ovn/serving'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { command, featureFlags } from './config.ts'
import { settingsOf } from './settings.ts'

/** Everything but the declaration of the settings. What features declare they read, and so it is with how metrics are served. */
const sources = globSync('*.ts', { cwd: import.meta.dirname, exclude: ['config.ts', '*.test.ts'] })
  .map((path) => readFileSync(join(import.meta.dirname, path), 'utf8'))
  .join('\n')

const listed = [...missingFeatures, ...needless].flatMap(({ controllerFlags = [] }) => controllerFlags)

/** These are read, and end in objects alone: tests of tools/generate say that nothing follows. */
const onlyWrittenDown = ['pod-nic-type']

it('reads every flag, or lists it among those without effect', () => {
  const parsed = readConfig(command, [], {})
  if (parsed.kind === 'help') throw new Error('help was not asked for')
  const unread = flagsInUse(command, parsed.config)
    .filter(({ key }) => !(key in featureFlags) && !(key in secureServingSettings))
    .filter(({ key }) => !new RegExp(`\\b${key}\\b`).test(sources))
    .map(({ name }) => name)
  expect([...new Set(listed)].sort()).toEqual([...unread, ...onlyWrittenDown].sort())
})

it('gives features the flags that they declare', () => {
  const parsed = readConfig(command, ['--ls-dnat-mod-dl-dst=false'], {})
  if (parsed.kind === 'help') throw new Error('help was not asked for')
  const { flags } = settingsOf(parsed.config)
  expect(Object.keys(featureFlags).filter((key) => !(key in flags))).toEqual([])
  expect(flags).toMatchObject({ lsDnatModDlDst: false, enableLiveMigrationOptimize: true })
})

describe('an underlay as the default subnet', () => {
  function settingsFor(...flags: readonly string[]) {
    const parsed = readConfig(command, flags, {})
    if (parsed.kind === 'help') throw new Error('help was not asked for')
    return settingsOf(parsed.config)
  }

  it('is asked for by the type of the network', () => {
    expect(settingsFor('--default-interface-name=eth1').defaultUnderlay).toBeUndefined()
    const flags = ['--network-type=vlan', '--default-interface-name=eth1', '--default-vlan-id=0']
    expect(settingsFor(...flags, '--default-provider-name=quay')).toMatchObject({
      defaultProvider: 'quay',
      defaultUnderlay: {
        ...{ interface: 'eth1', exchangesLinkName: false, vlan: 'ovn-vlan', vlanId: 0 },
        ...{ hasLogicalGateway: false, isInterconnected: false },
      },
    })
  })

  it.each([
    { flags: [], field: '--default-interface-name' },
    { flags: ['--default-interface-name=eth 1'], field: '--default-interface-name' },
    { flags: ['--default-interface-name=a123456789012345'], field: '--default-interface-name' },
    { flags: ['--default-interface-name=eth1', '--default-vlan-id=4096'], field: '--default-vlan-id' },
    {
      flags: ['--default-interface-name=eth1', '--default-logical-gateway', '--default-u2o-interconnection'],
      field: '--default-u2o-interconnection',
    },
  ])('is refused with $flags, which names $field', ({ flags, field }) => {
    expect(() => settingsFor('--network-type=vlan', ...flags)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ field }) }),
    )
  })
})

it('declares no flag that a feature declares', () => {
  const settings: Settings = command.settings
  const declared = Object.entries(featureFlags).filter(([key, setting]) => settings[key] !== setting)
  expect(declared).toEqual([])
})

it('says at its start which of its flags have no effect', () => {
  const main = join(import.meta.dirname, 'main.ts')
  // It ends by itself, for it does not find the API server.
  const args = [main, '--enable-external-vpc', '--pprof-port=0', '--kubeconfig=/no/such/file']
  const { stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  const lines = stderr.split('\n').filter((line) => line.includes('flags without effect'))
  expect(lines).toEqual([expect.stringContaining('--enable-external-vpc=true has no effect')])
})
