import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Topology } from './cluster/topology.ts'
import { LabMachineError } from './errors.ts'

/**
 * Makes sure of what every lab needs of this machine and what would fail much later and say less.
 *
 * @throws {LabMachineError}
 */
export function checkMachine(): void {
  if (process.platform !== 'linux')
    throw new LabMachineError('this machine can hold no lab', {
      what: `its system is ${process.platform}`,
      cure: 'use Linux: the network under test is Linux',
    })
  if (process.getuid?.() !== 0)
    throw new LabMachineError('this user can make no lab', {
      what: `it is not root but user ${process.getuid?.()}`,
      cure: 'run it as root, e.g. with sudo: it enters network namespaces',
    })
  const missing = Object.entries(features).find(([path]) => !existsSync(path))
  if (missing !== undefined)
    throw new LabMachineError('this machine can hold no lab', {
      what: `${missing[0]} is missing`,
      cure: missing[1],
    })
}

/** What the kernel lacks for kube-proxy in the mode ipvs; nothing if it has it. */
export function missingForIpvs(): string | undefined {
  // Loading it shows it, where it is a module.
  spawnSync('modprobe', ['ip_vs'])
  return existsSync('/proc/net/ip_vs') ? undefined : 'this kernel has no IPVS'
}

/**
 * Makes sure that the kernel has what a lab with such a kube-proxy needs.
 *
 * @throws {LabMachineError}
 */
export function checkProxyMode(proxyMode: Topology['proxyMode']): void {
  const what = proxyMode === 'ipvs' ? missingForIpvs() : undefined
  if (what !== undefined)
    throw new LabMachineError('this machine can hold no lab with kube-proxy in the mode ipvs', {
      what,
      cure: 'load the module ip_vs (modprobe ip_vs), use a kernel with CONFIG_IP_VS, or another proxyMode',
    })
}

/** Paths that show that the kernel has a feature, and how to get it. */
const features: Readonly<Record<string, string>> = {
  '/dev/net/tun': 'load the module tun (modprobe tun): the userspace data path has such devices',
  '/proc/sys/net/ipv6': 'start the kernel without ipv6.disable=1: every lab has IPv6 addresses',
  '/proc/self/ns/net': 'use a kernel with network namespaces (CONFIG_NET_NS)',
}
