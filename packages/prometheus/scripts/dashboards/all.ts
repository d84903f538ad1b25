import { CONTINUITY } from './continuity.ts';
import { LOAD } from './load.ts';
import { MCP_BY_ERA } from './mcp.ts';
import { MIGRATIONS } from './migrations.ts';
import type { Board } from './panels.ts';
import { dashboardOf } from './panels.ts';
import { REPLAY_WINDOW } from './replay-window.ts';

export const BOARDS: readonly Board[] = [CONTINUITY, LOAD, REPLAY_WINDOW, MCP_BY_ERA, MIGRATIONS];

/** The text of each file in `dashboards/`. */
export function renderDashboards(): ReadonlyMap<string, string> {
  return new Map(
    BOARDS.map((board) => [
      `${board.name}.json`,
      `${JSON.stringify(dashboardOf(board).build(), undefined, 2)}\n`,
    ]),
  );
}
