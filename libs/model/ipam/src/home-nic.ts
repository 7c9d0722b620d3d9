import { nameOf, type Owner } from './owner.ts'

/**
 * The NIC that an owner is expected to have: `web.shop` is that of `pod/shop/web`, as ports of pods are called.
 *
 * Nearly every owner has this one and no other, so that it is found by its NIC and needs no index of its own.
 */
export function homeNicOf(owner: Owner): string {
  const name = nameOf(owner)
  const slash = name.indexOf('/')
  return slash < 0 ? name : `${name.slice(slash + 1)}.${name.slice(0, slash)}`
}

/** Whether the NIC is {@link homeNicOf} the owner, without making any text. */
export function isHomeNic(nic: string, owner: Owner): boolean {
  const start = owner.indexOf('/') + 1
  if (nic.length !== owner.length - start) return false
  const slash = owner.indexOf('/', start)
  if (slash < 0) return owner.endsWith(nic)
  const nameLength = owner.length - slash - 1
  return (
    nic.charCodeAt(nameLength) === dot &&
    isPart(owner, slash + 1, nic, 0, nameLength) &&
    isPart(owner, start, nic, nameLength + 1, nic.length)
  )
}

const dot = '.'.charCodeAt(0)

/** Whether `part` from `from` to before `to` is what `text` has at `at`. */
function isPart(text: string, at: number, part: string, from: number, to: number): boolean {
  for (let index = from; index < to; index++)
    if (text.charCodeAt(at + index - from) !== part.charCodeAt(index)) return false
  return true
}
