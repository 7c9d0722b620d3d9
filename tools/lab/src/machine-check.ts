import { existsSync } from 'node:fs'
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

/** Paths that show that the kernel has a feature, and how to get it. */
const features: Readonly<Record<string, string>> = {
  '/dev/net/tun': 'load the module tun (modprobe tun): the userspace data path has such devices',
  '/proc/sys/net/ipv6': 'start the kernel without ipv6.disable=1: every lab has IPv6 addresses',
  '/proc/self/ns/net': 'use a kernel with network namespaces (CONFIG_NET_NS)',
}
