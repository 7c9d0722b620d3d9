import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recordingLogger } from '@kube-ovn/log'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { InstallConfig } from './config.ts'
import { PluginMissingError } from './errors.ts'
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

it('installs the plugins and then the configuration that upstream has', () => {
  expect(install()).toEqual([
    'plugin installed',
    'plugin installed',
    'plugin installed',
    'CNI configuration installed',
  ])
  const conflist = join(config.cniConfDir, config.cniConfName)
  expect(JSON.parse(readFileSync(conflist, 'utf8'))).toEqual({
    name: 'kube-ovn',
    cniVersion: '0.3.1',
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
