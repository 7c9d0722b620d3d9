import { addressType, parseAddress } from './address-message.ts'
import { linkType, parseLink } from './link-message.ts'
import type { Message } from './message.ts'
import { neighbourType, parseNeighbour } from './neighbour-message.ts'
import { parseRoute, routeMessageType } from './route-message.ts'
import { parseRule, ruleMessageType } from './rule-message.ts'
import type { NetlinkEvent, WatchSelection } from './types.ts'

/** RTNLGRP_* of linux/rtnetlink.h, as bits of the mask that bind(2) takes. */
const groups = {
  links: [1],
  neighbours: [3],
  addresses: [5, 9],
  routes: [7, 11],
  rules: [8, 19],
} as const satisfies Record<keyof WatchSelection, readonly number[]>

export function groupMask(selection: WatchSelection): number {
  return (Object.keys(groups) as (keyof WatchSelection)[])
    .filter((name) => selection[name] === true)
    .flatMap((name) => groups[name])
    .reduce<number>((mask, group) => mask | (1 << (group - 1)), 0)
}

/** Turns a multicast message into an event; `undefined` for what is not watched. */
export function toEvent({ type, body }: Message): NetlinkEvent | undefined {
  switch (type) {
    case linkType.created:
    case linkType.removed:
      // A bridge reports its ports under its own family; the link itself is reported under AF_UNSPEC.
      if (body.readUInt8(0) !== 0) return undefined
      return { kind: 'link', change: type === linkType.created ? 'set' : 'removed', link: parseLink(body) }
    case addressType.created:
    case addressType.removed: {
      const address = parseAddress(body)
      if (address === undefined) return undefined
      return { kind: 'address', change: type === addressType.created ? 'set' : 'removed', address }
    }
    case routeMessageType.created:
    case routeMessageType.removed: {
      const route = parseRoute(body)
      if (route === undefined) return undefined
      return { kind: 'route', change: type === routeMessageType.created ? 'set' : 'removed', route }
    }
    case ruleMessageType.created:
    case ruleMessageType.removed: {
      const rule = parseRule(body)
      if (rule === undefined) return undefined
      return { kind: 'rule', change: type === ruleMessageType.created ? 'set' : 'removed', rule }
    }
    case neighbourType.created:
    case neighbourType.removed: {
      const neighbour = parseNeighbour(body)
      if (neighbour === undefined) return undefined
      return { kind: 'neighbour', change: type === neighbourType.created ? 'set' : 'removed', neighbour }
    }
    default:
      return undefined
  }
}
