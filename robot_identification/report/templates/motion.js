"use strict";

// Shows the robot in its cell at any time of the motion, and where a pair is closest.
const scene = JSON.parse(document.getElementById("scene").textContent);
const canvas = document.getElementById("view");
const slider = document.getElementById("time");
const clock = document.getElementById("clock");
const play = document.getElementById("play");
const closest = document.getElementById("closest");
const raster = new Raster(canvas);

const PALETTE = [
  [91, 132, 177], [127, 163, 107], [194, 143, 75], [141, 120, 173], [95, 163, 163],
  [181, 125, 141], [138, 154, 91],
];
const CELL = [154, 165, 177], NEAR = [192, 57, 43], PATH = [59, 110, 165], GRID = [120, 132, 145];
const LIGHT = [0.36, 0.26, 0.9];
const SQUARES = 12;
const AWAY = 4;  // distance of the eye, in reaches
const BEHIND = 40;  // nearness of what is beside the eye or behind it

let turn = 0.8, tilt = 0.45, zoom = 1, middle, reach;
let sharpness = 2;  // pixels that are drawn for one that is shown, along each side
let place = 0, playing = false, shown = null, last = 0;

function moved(m, [x, y, z]) {
  return [
    m[0] * x + m[1] * y + m[2] * z + m[3],
    m[4] * x + m[5] * y + m[6] * z + m[7],
    m[8] * x + m[9] * y + m[10] * z + m[11],
  ];
}

function placed(body, pose) {
  return body.joint < 0 ? body.corners : body.corners.map((one) => moved(pose[body.joint], one));
}

// Everything of the robot, over the whole motion, is to be seen.
function frame() {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  const points = [];
  for (let i = 0; i < scene.poses.length; i += 20) {
    for (const body of scene.bodies) if (body.robot) points.push(...placed(body, scene.poses[i]));
  }
  for (const point of points) {
    for (let k = 0; k < 3; k++) {
      low[k] = Math.min(low[k], point[k]);
      high[k] = Math.max(high[k], point[k]);
    }
  }
  middle = low.map((x, k) => (x + high[k]) / 2);
  const away = (point) => Math.hypot(...point.map((x, k) => x - middle[k]));
  reach = points.reduce((most, point) => Math.max(most, away(point)), 0.2);
}

// Toward the eye.
function view() {
  return [Math.cos(tilt) * Math.cos(turn), Math.cos(tilt) * Math.sin(turn), Math.sin(tilt)];
}

function looked([x, y, z]) {
  const a = x - middle[0], b = y - middle[1], c = z - middle[2];
  const u = Math.cos(turn) * b - Math.sin(turn) * a;
  const v = Math.cos(turn) * a + Math.sin(turn) * b;
  const depth = Math.cos(tilt) * v + Math.sin(tilt) * c;
  const size = zoom * 0.47 * Math.min(canvas.width, canvas.height) / reach;
  const near = AWAY / Math.max(AWAY / BEHIND, AWAY - depth / reach);
  return [
    canvas.width / 2 + u * size * near,
    canvas.height / 2 - (Math.cos(tilt) * c - Math.sin(tilt) * v) * size * near,
    near,
  ];
}

function normal([p, q, r]) {
  const s = q.map((x, k) => x - p[k]), t = r.map((x, k) => x - p[k]);
  const n = [s[1] * t[2] - s[2] * t[1], s[2] * t[0] - s[0] * t[2], s[0] * t[1] - s[1] * t[0]];
  const size = Math.hypot(...n) || 1;
  return n.map((x) => x / size);
}

const along = (one, other) => one.reduce((sum, x, k) => sum + x * other[k], 0);
const between = (one, other, share) => one.map((x, k) => x + share * (other[k] - x));

function toward(corners) {
  const eye = view().map((x, k) => middle[k] + AWAY * reach * x);
  return eye.map((x, k) => x - corners[0][k]);
}

// A convex body: only the sides that face the eye are drawn.
function drawBody(body, pose, colour, alpha) {
  const corners = placed(body, pose), seen = corners.map(looked);
  for (const face of body.faces) {
    const own = face.map((i) => corners[i]), outward = normal(own);
    if (along(outward, toward(own)) <= 0) continue;
    if (face.some((i) => seen[i][2] >= BEHIND)) continue;
    const bright = 0.62 + 0.4 * Math.max(0, along(outward, LIGHT))
      + 0.12 * Math.max(0, along(outward, view()));
    const shade = colour.map((x) => Math.min(255, Math.round(x * bright)));
    raster.triangle(...face.map((i) => seen[i]), shade, alpha);
  }
}

// A plane is a grid, and from its free side a surface too.
function drawPlane(body, colour) {
  const [a, b, c, d] = body.corners, seen = body.corners.map(looked);
  if (along(normal([a, b, c]), toward(body.corners)) > 0) {
    for (const face of body.faces) raster.triangle(...face.map((i) => seen[i]), colour, 0.28);
  }
  for (let i = 0; i <= SQUARES; i++) {
    const share = i / SQUARES;
    for (const [p, q, r, s] of [[a, b, d, c], [a, d, b, c]]) {
      const ends = [between(p, q, share), between(r, s, share)].map(looked);
      raster.line(...ends, GRID, 0.22, sharpness, 1e-4);
    }
  }
}

function drawPath() {
  const joint = scene.poses[0].length - 1;
  const points = scene.poses.map((pose) => looked([3, 7, 11].map((k) => pose[joint][k])));
  for (let i = 1; i < points.length; i++) {
    raster.line(points[i - 1], points[i], PATH, 0.4, 1.5 * sharpness);
  }
}

// On top of everything: the points may lie behind what they belong to.
function drawClosest() {
  const [from, to] = shown.points.map(looked), front = 1e3;
  raster.line(from, to, NEAR, 1, 2 * sharpness, front);
  for (const [x, y, near] of [from, to]) {
    const half = 2.5 * sharpness;
    const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([a, b]) =>
      [x + half * a, y + half * b, near + front]);
    raster.triangle(corners[0], corners[1], corners[2], NEAR, 1);
    raster.triangle(corners[0], corners[2], corners[3], NEAR, 1);
  }
}

function draw() {
  sharpness = playing || fingers.size ? 1 : 2;  // quick while it moves
  raster.clear(
    Math.max(1, Math.round(canvas.clientWidth * sharpness)),
    Math.max(1, Math.round(canvas.clientHeight * sharpness)),
  );
  const pose = shown ? shown.pose : scene.poses[place];
  const far = (body) => Math.hypot(...toward(placed(body, pose)));
  const nearer = (one, other) => far(other) - far(one);
  const paired = (body) => shown && shown.links.includes(body.link);
  const tinted = (body, colour) => (paired(body) ? between(colour, NEAR, 0.75) : colour);
  const own = (body) => tinted(body, PALETTE[(body.joint + 1) % PALETTE.length]);
  const robot = scene.bodies.filter((body) => body.robot);
  const opaque = (body) => !shown || paired(body);
  for (const body of robot.filter(opaque)) drawBody(body, pose, own(body), 1);
  drawPath();
  const standing = scene.bodies.filter((body) => !body.robot);
  for (const body of standing) if (body.plane) drawPlane(body, CELL);
  for (const body of standing.filter((one) => !one.plane).sort(nearer)) {
    drawBody(body, pose, tinted(body, CELL), 0.6);
  }
  const seenThrough = robot.filter((body) => !opaque(body)).sort(nearer);
  for (const body of seenThrough) drawBody(body, pose, own(body), 0.5);
  if (shown) drawClosest();
  raster.show();
  const time = shown ? shown.time : scene.times[place];
  const gap = shown ? `, ${Math.round(shown.distance * 1000)} mm` : "";
  clock.textContent = `${time.toFixed(2)} s${shown && shown.braking ? ", braking" : ""}${gap}`;
  slider.value = place;
  closest.setAttribute("aria-pressed", String(Boolean(shown)));
}

function step(now) {
  if (!playing) return;
  const speed = (scene.poses.length - 1) / (scene.times[scene.times.length - 1] - scene.times[0]);
  const whole = Math.min(scene.poses.length - 1, place + speed * Math.max(0, now - last) / 1000);
  last = now;
  place = Math.round(whole);
  draw();
  place = whole;
  if (place >= scene.poses.length - 1) pause();
  else requestAnimationFrame(step);
}

function pause() {
  playing = false;
  place = Math.round(place);
  play.textContent = "Play";
}

play.addEventListener("click", () => {
  if (playing) {
    pause();
    draw();
    return;
  }
  shown = null;
  if (place >= scene.poses.length - 1) place = 0;
  playing = true;
  play.textContent = "Pause";
  last = performance.now();
  requestAnimationFrame(step);
});
slider.addEventListener("input", () => {
  pause();
  shown = null;
  place = Number(slider.value);
  draw();
});
closest.addEventListener("click", () => {
  pause();
  shown = shown ? null : scene.nearest;
  if (shown) {
    const begin = scene.times[0], end = scene.times[scene.times.length - 1];
    const share = Math.min(1, Math.max(0, (shown.time - begin) / (end - begin)));
    place = Math.round(share * (scene.poses.length - 1));
    const way = shown.points[1].map((x, k) => x - shown.points[0][k]);
    if (Math.abs(along(way, view())) > 0.8 * Math.hypot(...way)) turn += 1.2;  // else but a dot
  }
  draw();
});

const fingers = new Map();
canvas.addEventListener("pointerdown", (event) => {
  fingers.set(event.pointerId, [event.clientX, event.clientY]);
  canvas.setPointerCapture(event.pointerId);
});
for (const kind of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(kind, (event) => {
    fingers.delete(event.pointerId);
    draw();
  });
}
canvas.addEventListener("pointermove", (event) => {
  const before = fingers.get(event.pointerId);
  if (!before) return;
  const dx = event.clientX - before[0], dy = event.clientY - before[1];
  if (fingers.size === 1) {
    turn -= dx * 0.008;
    tilt = Math.min(1.5, Math.max(-1.5, tilt + dy * 0.008));
  } else {
    zoom *= Math.exp(-dy * 0.005);
  }
  fingers.set(event.pointerId, [event.clientX, event.clientY]);
  draw();
});
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom *= Math.exp(-event.deltaY * 0.001);
  draw();
}, { passive: false });
addEventListener("resize", draw);

slider.max = scene.poses.length - 1;
closest.hidden = !scene.nearest;
frame();
draw();
