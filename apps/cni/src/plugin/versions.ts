/** Every released version of the CNI specification, in ascending order. */
export const supportedVersions = ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'] as const

/** What a configuration without `cniVersion` means (specification 0.1.0). */
export const oldestVersion = '0.1.0'

export const newestVersion = '1.1.0'

/** Says whether version `a` is `b` or later. Versions are three numbers; anything else sorts first. */
export function isAtLeast(a: string, b: string): boolean {
  const left = numbers(a)
  const right = numbers(b)
  for (let i = 0; i < 3; i++) {
    const difference = (left[i] ?? -1) - (right[i] ?? -1)
    if (difference !== 0) return difference > 0
  }
  return true
}

export function isSupported(version: string): boolean {
  return supportedVersions.some((known) => known === version)
}

function numbers(version: string): number[] {
  return version.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : -1))
}
