import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { desiredSysctls } from '@kube-ovn/features-node'
import type { Logger } from '@kube-ovn/log'
import { readSysctl, writeSysctl } from '@kube-ovn/netlink'
import type { InstallConfig } from './config.ts'
import { installConfiguration, requireKnownVersions } from './configuration.ts'
import { PluginMissingError } from './errors.ts'
import { installCommand } from './install-command.ts'
import { removeTemporaryFiles, replaceFile } from './replace-file.ts'

/** What is copied to the node: our plugin, and two of the CNI project's. */
const plugins = ['kube-ovn', 'portmap', 'loopback'] as const

const executable = 0o755

/**
 * Prepares the node: plugins, settings, and last the configuration, whose appearance tells the runtime that the
 * network is there.
 *
 * Safe to repeat: what is as it should be is not written again.
 */
export function installNode(config: InstallConfig, log: Logger): void {
  requireKnownVersions(config.cniVersions)
  mkdirSync(config.cniBinDir, { recursive: true })
  mkdirSync(config.cniConfDir, { recursive: true })
  removeTemporaryFiles(config.cniBinDir, plugins)
  removeTemporaryFiles(config.cniConfDir, [config.cniConfName])
  for (const plugin of plugins) {
    const source = findPlugin(plugin, config.sourceDirs)
    const target = join(config.cniBinDir, plugin)
    if (replaceFile(target, readFileSync(source), executable)) log.info('plugin installed', { path: target })
  }
  writeSettings(config, log)
  const path = join(config.cniConfDir, config.cniConfName)
  if (installConfiguration(path, config)) log.info('CNI configuration installed', { path })
  installCommand(config, log)
}

function findPlugin(plugin: string, directories: readonly string[]): string {
  for (const directory of directories) {
    const path = join(directory, plugin)
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return path
  }
  throw new PluginMissingError({ plugin, directories })
}

function writeSettings({ podIps }: InstallConfig, log: Logger): void {
  const hasIpv6 = podIps.some((ip) => ip.includes(':'))
  const hasIpv4 = podIps.some((ip) => !ip.includes(':'))
  for (const [key, value] of desiredSysctls({ hasIpv4, hasIpv6 })) {
    if (readSysctl(undefined, key) === value) continue
    writeSysctl(undefined, key, value)
    log.info('setting was written', { setting: key, value })
  }
}
