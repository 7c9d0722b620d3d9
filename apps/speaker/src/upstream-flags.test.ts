import { BgpSpeaker, dialTcp } from '@kube-ovn/bgp'
import { silentLogger } from '@kube-ovn/log'
import { missingFeatures, needless } from '@kube-ovn/no-effect'
import { flagsInUse, readConfig, type ParsedConfig } from '@kube-ovn/process'
import { secureServingSettings } from '@kube-ovn/serving'
import { ManualClock } from '@kube-ovn/time'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { command, speakerOptions } from './config.ts'

/** Flags of kube-ovn-speaker 1.17 (`pkg/speaker/config.go`) with their defaults as Go prints them. */
const own: Readonly<Record<string, string>> = {
  'graceful-restart-time': '1m30s',
  'graceful-restart-deferral-time': '6m0s',
  'graceful-restart': 'false',
  'announce-cluster-ip': 'false',
  'grpc-host': '127.0.0.1',
  'grpc-port': '50051',
  'cluster-as': '0',
  'router-id': '',
  'node-ips': '',
  'neighbor-address': '',
  'neighbor-ipv6-address': '',
  'allowed-source-addresses': '',
  'allowed-source-ipv6-addresses': '',
  'neighbor-as': '0',
  'auth-password': '',
  holdtime: '1m30s',
  'pprof-port': '10667',
  'node-name': '',
  kubeconfig: '',
  passivemode: 'false',
  'ebgp-multihop': '1',
  'extended-nexthop': 'false',
  'nat-gw-mode': 'false',
  'enable-metrics': 'true',
  'log-perm': '640',
  'enable-bfd': 'false',
  'bfd-min-tx': '1000',
  'bfd-min-rx': '1000',
  'bfd-detection-multiplier': '3',
}

/** Those of klog 2.140, which it takes as well. */
const ofKlog: Readonly<Record<string, string>> = {
  log_dir: '',
  log_file: '',
  log_file_max_size: '1800',
  logtostderr: 'true',
  alsologtostderr: 'false',
  legacy_stderr_threshold_behavior: 'true',
  v: '0',
  add_dir_header: 'false',
  skip_headers: 'false',
  one_output: 'false',
  skip_log_headers: 'false',
  stderrthreshold: '2',
  alsologtostderrthreshold: '0',
  vmodule: '',
  log_backtrace_at: '',
}

/** What is ours beside them. */
const news = [
  ...[
    'aggregate',
    'auth-password-file',
    'communities',
    'local-preference',
    'neighbor-port',
    'neighbors-file',
  ],
  ...['secure-serving', 'tls-cert-file', 'tls-private-key-file'],
  ...['tls-cipher-suites', 'tls-max-version', 'tls-min-version'],
]

const required = ['--cluster-as=65000', '--neighbor-as=65001', '--neighbor-address=192.0.2.9']

type Config = Extract<ParsedConfig<(typeof command)['settings']>, { kind: 'config' }>['config']

function configOf(flags: readonly string[], environment: Readonly<Record<string, string>> = {}): Config {
  const parsed = readConfig(command, flags, environment)
  return parsed.kind === 'help' ? expect.unreachable('nobody asked for help') : parsed.config
}

function valuesOf(flags: readonly string[]): ReadonlyMap<string, string> {
  return new Map(flagsInUse(command, configOf(flags)).map(({ name, value }) => [name, value]))
}

describe('flags of upstream', () => {
  it.each(Object.entries({ ...own, ...ofKlog }))('have --%s with its default, %s', (name, fallback) => {
    const defaults = valuesOf([])
    expect(defaults.has(name)).toBe(true)
    // Written out, the default changes nothing.
    expect(valuesOf(fallback === '' ? [] : [`--${name}=${fallback}`]).get(name)).toBe(defaults.get(name))
  })

  it('are all that there are, but for our own', () => {
    const names = [...valuesOf([]).keys()].filter((name) => !(name in own || name in ofKlog))
    expect(names.toSorted()).toEqual(news.toSorted())
  })

  it('are explained by --help', () => {
    const parsed = readConfig(command, ['--help'], {})
    const text = parsed.kind === 'help' ? parsed.text : expect.unreachable('it was asked for')
    expect(Object.keys({ ...own, ...ofKlog }).filter((name) => !text.includes(`--${name}\n`))).toEqual([])
  })
})

describe('a flag', () => {
  /** Where settings are declared, each of them stands once. */
  const sources = globSync('*.ts', { cwd: import.meta.dirname, exclude: ['*.test.ts', '*fixture.ts'] })
    .map((path) => readFileSync(join(import.meta.dirname, path), 'utf8'))
    .join('\n')

  it('is read, or listed among those without effect', () => {
    const unread = flagsInUse(command, configOf([]))
      .filter(({ key }) => !(key in secureServingSettings))
      .filter(({ key }) => {
        const declared = key in command.settings ? 1 : 0
        return [...sources.matchAll(new RegExp(`\\b${key}\\b`, 'g'))].length === declared
      })
    const listed = [...missingFeatures, ...needless].flatMap(({ speakerFlags = [] }) => speakerFlags)
    expect(listed.toSorted()).toEqual(unread.map(({ name }) => name).toSorted())
  })

  it('that has no effect is told of at the start', () => {
    const main = join(import.meta.dirname, 'main.ts')
    // It ends by itself, for it does not find the API server.
    const args = [...required, '--node-name=node-1', '--grpc-port=50052', '--kubeconfig=/no/such/file']
    const { stderr } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' })
    const lines = stderr.split('\n').filter((line) => line.includes('flags without effect'))
    expect(lines).toEqual([expect.stringContaining('--grpc-port=50052 has no effect: no GoBGP')])
  })
})

function startOf(...flags: readonly string[]): BgpSpeaker {
  const config = configOf([...required, ...flags], { NODE_NAME: 'node-1', POD_IPS: '192.0.2.1' })
  return new BgpSpeaker(speakerOptions(config), {
    ...{ dial: dialTcp, clock: new ManualClock(), log: silentLogger, random: () => 0 },
  })
}

describe('values that upstream refuses', () => {
  it.each([
    '--holdtime=900ms',
    '--holdtime=2s',
    '--holdtime=2.9s',
    '--holdtime=65537s',
    '--ebgp-multihop=0',
    '--ebgp-multihop=256',
    '--cluster-as=4294967296',
    '--neighbor-as=4294967296',
    '--graceful-restart-time=500ms --graceful-restart',
    '--graceful-restart-time=4096s --graceful-restart',
    '--graceful-restart-deferral-time=0s --graceful-restart',
    '--graceful-restart-deferral-time=18h1s --graceful-restart',
    '--enable-bfd --bfd-min-tx=0',
    '--enable-bfd --bfd-min-tx=4294968',
    '--enable-bfd --bfd-min-rx=0',
    '--enable-bfd --bfd-min-rx=4294968',
    '--enable-bfd --bfd-detection-multiplier=0',
    '--enable-bfd --bfd-detection-multiplier=256',
    '--neighbor-address=2001:db8::9',
    '--neighbor-address=router',
    '--neighbor-ipv6-address=192.0.2.9',
    '--allowed-source-addresses=2001:db8::1',
    '--allowed-source-ipv6-addresses=192.0.2.1',
    '--node-ips=node',
    '--router-id=2001:db8::1',
    '--passivemode=perhaps',
  ])('are refused with field, value and cure: %s', (flags) => {
    expect(() => startOf(...flags.split(' '))).toThrow(
      expect.objectContaining({
        details: { field: expect.any(String), value: expect.any(String), cure: expect.any(String) },
      }),
    )
  })

  it.each([
    '--holdtime=3s',
    '--holdtime=65536s',
    '--ebgp-multihop=255',
    '--cluster-as=4294967295',
    '--graceful-restart-time=4095s --graceful-restart',
    '--graceful-restart-time=1.5s --graceful-restart',
    '--graceful-restart-time=500ms',
    '--graceful-restart-deferral-time=18h --graceful-restart',
    '--enable-bfd --bfd-min-tx=4294967 --bfd-min-rx=1 --bfd-detection-multiplier=255',
    '--bfd-min-tx=0',
    '--node-ips=192.0.2.7,2001:db8::7',
  ])('end where upstream has their bounds: %s is taken', (flags) => {
    expect(startOf(...flags.split(' ')).statuses).toHaveLength(1)
  })
})
