/** Numbers of the protocols that a frame carries. */
export const etherType = { arp: 0x0806, ipv6: 0x86dd } as const

/** A frame without its checksum, which the device appends. */
export function encodeFrame(
  destination: Buffer,
  source: Buffer,
  type: (typeof etherType)[keyof typeof etherType],
  payload: Buffer,
): Buffer {
  const protocol = Buffer.alloc(2)
  protocol.writeUInt16BE(type)
  return Buffer.concat([destination, source, protocol, payload])
}
