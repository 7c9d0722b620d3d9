import { errorCode } from '@kube-ovn/errors'
import { readFileSync, writeFileSync } from 'node:fs'
import { InvalidNetlinkValueError, netlinkError } from './errors.ts'
import { inNamespace } from './namespace.ts'

/**
 * Writes a setting below `net.` in a network namespace (`undefined`: this process's own).
 *
 * The key is the path below `/proc/sys/net` with slashes, because interface names may contain dots:
 * `ipv6/conf/eth0.100/disable_ipv6`. `/proc/sys/net` shows the namespace of the thread that opens it, so the file is
 * opened from inside.
 */
export function writeSysctl(netns: string | undefined, key: string, value: string | number): void {
  const path = sysctlPath(key)
  within(netns, 'sysctl write', key, () => {
    writeFileSync(path, `${value}\n`)
    return String(value)
  })
}

/** Reads a setting below `net.`; see `writeSysctl`. */
export function readSysctl(netns: string | undefined, key: string): string {
  const path = sysctlPath(key)
  return within(netns, 'sysctl read', key, () => readFileSync(path, 'utf8').trim())
}

function sysctlPath(key: string): string {
  const parts = key.split('/')
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    throw new InvalidNetlinkValueError({
      field: 'key',
      value: key,
      expected: 'a path below /proc/sys/net, such as ipv4/ip_forward',
    })
  }
  return `/proc/sys/net/${key}`
}

function within(netns: string | undefined, operation: string, key: string, access: () => string): string {
  function attempt(): string {
    try {
      return access()
    } catch (cause) {
      const errno = errorCode(cause) ?? 'EIO'
      throw netlinkError({ operation, subject: key, errno }, { cause })
    }
  }
  return netns === undefined ? attempt() : inNamespace(netns, attempt)
}
