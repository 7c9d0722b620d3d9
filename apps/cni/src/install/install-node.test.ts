import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recordingLogger } from '@kube-ovn/log'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { InstallConfig } from './config.ts'
import { CniVersionUnknownError, PluginMissingError } from './errors.ts'
import { installNode } from './install-node.ts'

let root: string
let config: InstallConfig

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kube-ovn-install-'))
  const source = join(root, 'source')
  mkdirSync(source)
  for (const plugin of ['kube-ovn', 'portmap', 'loopback'])
    writeFileSync(join(source, plugin), `binary of ${plugin}`)
  config = {
    cniConfDir: join(root, 'net.d'),
    cniConfFile: '',
    cniConfName: '01-kube-ovn.conflist',
    cniBinDir: join(root, 'bin'),
    cniVersions: [],
    toolingDir: '',
    hostCniBinDir: '/opt/cni/bin',
    sourceDirs: [join(root, 'elsewhere'), source],
    serverSocket: '/run/openvswitch/kube-ovn-daemon.sock',
    ovsSocket: '',
    podIps: [],
  }
})

afterEach(() => rmSync(root, { recursive: true }))

function install(): readonly string[] {
  const log = recordingLogger()
  installNode(config, log)
  return log.lines.map((line) => line.message)
}

it('installs the plugins and then the configuration, in the newest version that every runtime speaks', () => {
  expect(install()).toEqual([
    'plugin installed',
    'plugin installed',
    'plugin installed',
    'CNI configuration installed',
  ])
  const conflist = join(config.cniConfDir, config.cniConfName)
  expect(JSON.parse(readFileSync(conflist, 'utf8'))).toEqual({
    name: 'kube-ovn',
    cniVersion: '1.0.0',
    plugins: [
      { type: 'kube-ovn', server_socket: '/run/openvswitch/kube-ovn-daemon.sock' },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  })
  expect(statSync(conflist).mode & 0o777).toBe(0o600)
  expect(statSync(join(config.cniBinDir, 'portmap')).mode & 0o777).toBe(0o755)
})

it('writes nothing the second time', () => {
  install()
  const before = statSync(join(config.cniConfDir, config.cniConfName)).ino
  expect(install()).toEqual([])
  expect(statSync(join(config.cniConfDir, config.cniConfName)).ino).toBe(before)
})

it('replaces content and mode that differ, and removes what a crash left', () => {
  install()
  const conflist = join(config.cniConfDir, config.cniConfName)
  writeFileSync(conflist, 'old')
  chmodSync(join(config.cniBinDir, 'kube-ovn'), 0o700)
  writeFileSync(`${conflist}.tmp.99`, 'half')
  expect(install()).toEqual(['plugin installed', 'CNI configuration installed'])
  expect(readFileSync(conflist, 'utf8')).toContain('server_socket')
  expect(statSync(`${conflist}.tmp.99`, { throwIfNoEntry: false })).toBeUndefined()
})

it('installs no configuration when a plugin is missing', () => {
  rmSync(join(root, 'source', 'loopback'))
  expect(install).toThrow(PluginMissingError)
  expect(statSync(join(config.cniConfDir, config.cniConfName), { throwIfNoEntry: false })).toBeUndefined()
})

describe('versions of the CNI specification', () => {
  const path = (): string => join(config.cniConfDir, config.cniConfName)
  const versions = (): unknown => {
    const { cniVersion, cniVersions } = JSON.parse(readFileSync(path(), 'utf8')) as Record<string, unknown>
    return cniVersions === undefined ? cniVersion : [cniVersion, cniVersions]
  }
  function edit(change: object): void {
    install()
    writeFileSync(path(), JSON.stringify({ ...JSON.parse(readFileSync(path(), 'utf8')), ...change }))
  }

  it.each([
    { what: 'are those that the settings name', named: ['1.1.0'], want: '1.1.0' },
    {
      what: 'are offered when the settings name several, and the oldest to who knows no lists',
      named: ['1.1.0', '0.4.0'],
      want: ['0.4.0', ['0.4.0', '1.1.0']],
    },
    { what: 'that an operator wrote stay', written: { cniVersion: '1.1.0' }, want: '1.1.0' },
    {
      what: 'that an operator offers stay',
      written: { cniVersions: ['1.0.0', '1.1.0'] },
      want: ['1.0.0', ['1.0.0', '1.1.0']],
    },
    {
      what: 'that an earlier installation wrote are raised',
      written: { cniVersion: '0.3.1' },
      want: '1.0.0',
    },
    {
      what: 'that an operator wrote give way to those that the settings name',
      written: { cniVersion: '1.1.0' },
      named: ['0.3.1'],
      want: '0.3.1',
    },
    { what: 'that no plugin speaks do not stay', written: { cniVersion: '9.0.0' }, want: '1.0.0' },
    { what: 'that are no texts do not stay', written: { cniVersions: [1] }, want: '1.0.0' },
  ])('$what', ({ named = [], written = {}, want }) => {
    edit(written)
    config = { ...config, cniVersions: named }
    install()
    expect(versions()).toEqual(want)
    expect(install()).toEqual([])
  })

  it('that are not known are refused, and nothing is installed', () => {
    config = { ...config, cniVersions: ['1.2.0'] }
    expect(install).toThrow(CniVersionUnknownError)
    expect(statSync(config.cniBinDir, { throwIfNoEntry: false })).toBeUndefined()
  })
})
