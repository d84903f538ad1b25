import type { FollowedSocket } from '../followed-socket.ts';

type Way = 'sent' | 'received';

interface Packet {
  readonly way: Way;
  readonly text: string;
}

/** One connection of Engine.IO while it polls; `over` once its packets are kept no longer. */
export interface PolledSession {
  readonly sid: string;
  packets: Packet[];
  /** Characters of all of them. */
  size: number;
  goesOn: FollowedSocket | 'polling' | 'over';
}

const MOST_SESSIONS = 1000;
const MOST_KEPT = 1 << 20;
const SEPARATOR = '\u001e';

/**
 * What connections of Engine.IO said while they polled, for the WebSocket that each may change over
 * to: a Socket.IO client begins by polling unless told otherwise, and there it asks to be recovered
 * and is answered. Bounded, for most polling never changes over.
 */
export class PolledSessions {
  readonly #bySid = new Map<string, PolledSession>();
  #size = 0;

  /** @returns `undefined` for one whose beginning was not seen, or that is kept no longer. */
  find(sid: string): PolledSession | undefined {
    return this.#bySid.get(sid);
  }

  /** @param body The first answer, which names the connection: `0{"sid":…}`. */
  begin(body: string): void {
    const sid = sidIn(body);
    if (sid === undefined) return;
    const session: PolledSession = { sid, packets: [], size: 0, goesOn: 'polling' };
    this.#bySid.set(sid, session);
    this.take(session, 'received', body);
    for (const oldest of this.#bySid.values()) {
      if (this.#bySid.size <= MOST_SESSIONS) break;
      this.#end(oldest, 'over');
    }
  }

  /** @param body Of one request or answer: packets, separated. */
  take(session: PolledSession, way: Way, body: string): void {
    if (session.goesOn === 'over') return;
    for (const text of body.split(SEPARATOR)) {
      const packet: Packet = { way, text };
      if (session.goesOn === 'polling') this.#keep(session, packet);
      else tell(session.goesOn, packet);
    }
  }

  /** The connection goes on over this WebSocket, which is open now. */
  changeOver(session: PolledSession, socket: FollowedSocket): void {
    if (session.goesOn !== 'polling') return;
    const { packets } = session;
    this.#end(session, socket);
    for (const packet of packets) tell(socket, packet);
  }

  #keep(session: PolledSession, packet: Packet): void {
    session.packets.push(packet);
    session.size += packet.text.length;
    this.#size += packet.text.length;
    // A part of what was said could mislead, so that a connection is forgotten whole.
    for (const oldest of this.#bySid.values()) {
      if (this.#size <= MOST_KEPT) return;
      this.#end(oldest, 'over');
    }
  }

  #end(session: PolledSession, goesOn: FollowedSocket | 'over'): void {
    this.#bySid.delete(session.sid);
    this.#size -= session.size;
    session.packets = [];
    session.size = 0;
    session.goesOn = goesOn;
  }
}

function sidIn(body: string): string | undefined {
  const [open = ''] = body.split(SEPARATOR, 1);
  return /^0\{"sid":"([\w-]{1,128})"/.exec(open)?.[1];
}

/** Bytes go by polling as text. */
function tell(socket: FollowedSocket, { way, text }: Packet): void {
  if (text.startsWith('b')) socket[way](Buffer.from(text.slice(1), 'base64'), false);
  else socket[way](text, true);
}
