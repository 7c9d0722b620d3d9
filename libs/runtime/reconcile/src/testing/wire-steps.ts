import type { Mutation, NewValue, Operation } from 'ovsdb-client'
import type { Step } from '../steps.ts'
import type { Element } from '../values.ts'

/** Reads operations as an ovsdb-server does (RFC 7047, section 5.2): those that a plan is made of. */
export function stepsOf(operations: readonly Operation[]): readonly Step[] {
  return operations.flatMap((operation, n): readonly Step[] => {
    const table = operation.table ?? ''
    switch (operation.op) {
      case 'insert':
        return [
          {
            ...{ do: 'insert', table, name: nameOf(operation, n), columns: columnsOf(operation['row']) },
            ...(typeof operation['uuid'] === 'string' ? { uuid: operation['uuid'] } : {}),
          },
        ]
      case 'update':
        return [{ do: 'update', table, uuid: uuidOf(operation), columns: columnsOf(operation['row']) }]
      case 'mutate':
        return [{ do: 'mutate', table, uuid: uuidOf(operation), mutations: mutationsOf(operation) }]
      case 'delete':
        return [{ do: 'delete', table, uuid: uuidOf(operation) }]
      default:
        return []
    }
  })
}

function nameOf(operation: Operation, n: number): string {
  const name = operation['uuid-name']
  return typeof name === 'string' ? name : `operation${n}`
}

/** Every condition of a plan is `_uuid == …`. */
function uuidOf({ where }: Operation): string {
  const [[, , [, uuid]]] = where as [[string, string, [string, string]]]
  return uuid
}

function columnsOf(row: unknown): Readonly<Record<string, NewValue>> {
  return Object.fromEntries(Object.entries(row as object).map(([name, wire]) => [name, valueOf(wire)]))
}

function mutationsOf({ mutations }: Operation): readonly Mutation[] {
  const list = mutations as readonly (readonly [string, 'insert' | 'delete', unknown])[]
  return list.map(([column, mutator, wire]) => [column, mutator, valueOf(wire)])
}

function valueOf(wire: unknown): NewValue {
  if (!Array.isArray(wire)) return atomOf(wire)
  const [tag, content] = wire as [string, readonly unknown[]]
  if (tag === 'set') return content.map(atomOf)
  if (tag !== 'map') return atomOf(wire)
  const pairs = content as readonly (readonly [string, unknown])[]
  return Object.fromEntries(pairs.map(([key, value]) => [key, atomOf(value)]))
}

function atomOf(wire: unknown): Element {
  if (!Array.isArray(wire)) return wire as Element
  const [tag, content] = wire as [string, string]
  return tag === 'named-uuid' ? { named: content } : content
}
