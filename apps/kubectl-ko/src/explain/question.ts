import { UsageError } from '../errors.ts'
import { askedKind, type AskedKind } from './asked-kind.ts'
import { parseAclLog, type LoggedPacket } from './acl-log.ts'

/** What is to be explained. */
export type Question =
  /** A row, or a flow, by the whole of its identifier or its beginning. */
  | { readonly kind: 'row'; readonly id: string }
  /** An object of Kubernetes, or any other key of a feature. */
  | { readonly kind: 'object'; readonly of: AskedKind; readonly key: string }
  /** The cookie of a sample of what an ACL decided. */
  | { readonly kind: 'sample'; readonly cookie: number }
  /** A line of ovn-controller's log. */
  | { readonly kind: 'packet'; readonly packet: LoggedPacket }

const identifier = /^(?:0x)?([0-9a-f]{1,8}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

/**
 * Reads the identifier of a row, the cookie of a flow, that of a sample after `sample/`, a line about an ACL of ovn-controller's log, or
 * KIND/NAME and KIND/NAMESPACE/NAME.
 *
 * @throws UsageError
 */
export function parseQuestion(text: string): Question {
  const packet = parseAclLog(text)
  if (packet !== undefined) return { kind: 'packet', packet }
  const [, id] = identifier.exec(text.toLowerCase()) ?? []
  // Cookies leave out zeros at their beginning.
  if (id !== undefined) return { kind: 'row', id: id.includes('-') ? id : id.padStart(8, '0') }
  const [, sampled] = /^sample\/(0x[0-9a-f]{1,8}|\d{1,10})$/.exec(text.toLowerCase()) ?? []
  if (sampled !== undefined) return { kind: 'sample', cookie: Number(sampled) }
  const [kind, ...key] = text.split('/')
  if (kind === undefined || kind === '' || key.length === 0 || key.length > 2 || key.includes(''))
    throw new UsageError(
      'what to explain',
      text,
      'write an identifier, a cookie like 0x1a2b3c4d, a whole line with acl_log, or KIND/NAME like pod/shop/web-0',
    )
  return { kind: 'object', of: askedKind(kind), key: key.join('/') }
}
