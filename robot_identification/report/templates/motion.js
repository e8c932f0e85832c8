"use strict";

// Draws bodies as triangles, the farthest first, and moves them along the motion.
const scene = JSON.parse(document.getElementById("scene").textContent);
const canvas = document.getElementById("view");
const brush = canvas.getContext("2d");
const slider = document.getElementById("time");
const clock = document.getElementById("clock");
const play = document.getElementById("play");
const closest = document.getElementById("closest");

const PALETTE = ["#5b84b1", "#7fa36b", "#c28f4b", "#8d78ad", "#5fa3a3", "#b57d8d", "#8a9a5b"];
const CELL = "#9aa5b1", NEAR = "#c0392b";
const light = [0.35, 0.25, 0.9];

let turn = 0.8, tilt = 0.45, near = 1.0, middle = [0, 0, 0.4], reach = 1.0;
let place = 0, playing = false, shown = null, last = 0;

function placed(body, pose) {
  if (body.joint < 0) return body.corners;
  const m = pose[body.joint];
  return body.corners.map(([x, y, z]) => [
    m[0] * x + m[1] * y + m[2] * z + m[3],
    m[4] * x + m[5] * y + m[6] * z + m[7],
    m[8] * x + m[9] * y + m[10] * z + m[11],
  ]);
}

// Everything of the robot, over the whole motion, is to be seen.
function frame() {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < scene.poses.length; i += 20) {
    for (const body of scene.bodies) {
      if (!body.robot) continue;
      for (const corner of placed(body, scene.poses[i])) {
        for (let k = 0; k < 3; k++) {
          low[k] = Math.min(low[k], corner[k]);
          high[k] = Math.max(high[k], corner[k]);
        }
      }
    }
  }
  middle = low.map((x, k) => (x + high[k]) / 2);
  reach = Math.max(0.2, Math.hypot(...high.map((x, k) => x - low[k])) / 2);
}

function looked([x, y, z]) {
  const a = x - middle[0], b = y - middle[1], c = z - middle[2];
  const u = Math.cos(turn) * b - Math.sin(turn) * a;
  const v = Math.cos(turn) * a + Math.sin(turn) * b;
  const depth = Math.cos(tilt) * v + Math.sin(tilt) * c;
  const scale = near * 0.42 * Math.min(canvas.width, canvas.height) / reach;
  const away = 4.0 / (4.0 - depth / reach);
  return [
    canvas.width / 2 + u * scale * away,
    canvas.height / 2 - (Math.cos(tilt) * c - Math.sin(tilt) * v) * scale * away,
    depth,
  ];
}

function shade(colour, brightness) {
  const value = parseInt(colour.slice(1), 16);
  const part = (shift) => Math.round(Math.min(255, ((value >> shift) & 255) * brightness));
  return `rgb(${part(16)}, ${part(8)}, ${part(0)})`;
}

function faces(pose) {
  const found = [];
  for (const body of scene.bodies) {
    const corners = placed(body, pose), seen = corners.map(looked);
    const pair = shown && shown.links.includes(body.link);
    const colour = pair ? NEAR : body.robot ? PALETTE[(body.joint + 1) % PALETTE.length] : CELL;
    for (const face of body.faces) {
      const [p, q, r] = face.map((i) => corners[i]);
      const s = q.map((x, k) => x - p[k]), t = r.map((x, k) => x - p[k]);
      const n = [s[1] * t[2] - s[2] * t[1], s[2] * t[0] - s[0] * t[2], s[0] * t[1] - s[1] * t[0]];
      const size = Math.hypot(...n) || 1;
      const facing = n.reduce((sum, x, k) => sum + x / size * light[k], 0);
      const points = face.map((i) => seen[i]);
      found.push({
        points,
        depth: (points[0][2] + points[1][2] + points[2][2]) / 3 - (body.robot ? 0 : 2 * reach),
        fill: shade(colour, 0.72 + 0.3 * Math.abs(facing)),
        alpha: body.robot ? 1.0 : 0.45,
      });
    }
  }
  return found.sort((one, other) => one.depth - other.depth);
}

function draw() {
  canvas.width = canvas.clientWidth * devicePixelRatio;
  canvas.height = canvas.clientHeight * devicePixelRatio;
  for (const face of faces(shown ? shown.pose : scene.poses[place])) {
    brush.globalAlpha = face.alpha;
    brush.fillStyle = brush.strokeStyle = face.fill;
    brush.beginPath();
    face.points.forEach(([x, y], i) => (i ? brush.lineTo(x, y) : brush.moveTo(x, y)));
    brush.closePath();
    brush.fill();
    brush.stroke();
  }
  brush.globalAlpha = 1.0;
  if (shown) {
    const [from, to] = shown.points.map(looked);
    brush.strokeStyle = NEAR;
    brush.lineWidth = 3 * devicePixelRatio;
    brush.beginPath();
    brush.moveTo(from[0], from[1]);
    brush.lineTo(to[0], to[1]);
    brush.stroke();
    brush.lineWidth = 1;
  }
  const time = shown ? shown.time : scene.times[place];
  clock.textContent = `${time.toFixed(2)} s${shown && shown.braking ? ", braking" : ""}`;
  slider.value = place;
}

function step(now) {
  if (!playing) return;
  const speed = (scene.poses.length - 1) / (scene.times[scene.times.length - 1] - scene.times[0]);
  place = Math.min(scene.poses.length - 1, place + speed * (now - last) / 1000);
  last = now;
  const whole = place;
  place = Math.round(place);
  draw();
  place = whole;
  if (place >= scene.poses.length - 1) stop();
  else requestAnimationFrame(step);
}

function stop() {
  playing = false;
  place = Math.round(place);
  play.textContent = "Play";
}

play.addEventListener("click", () => {
  if (playing) return stop();
  shown = null;
  if (place >= scene.poses.length - 1) place = 0;
  playing = true;
  play.textContent = "Pause";
  last = performance.now();
  requestAnimationFrame(step);
});
slider.addEventListener("input", () => { stop(); shown = null; place = Number(slider.value); draw(); });
closest.addEventListener("click", () => {
  stop();
  shown = scene.nearest;
  const begin = scene.times[0], end = scene.times[scene.times.length - 1];
  place = Math.round((shown.time - begin) / (end - begin) * (scene.poses.length - 1));
  draw();
});

const fingers = new Map();
canvas.addEventListener("pointerdown", (event) => {
  fingers.set(event.pointerId, [event.clientX, event.clientY]);
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointerup", (event) => fingers.delete(event.pointerId));
canvas.addEventListener("pointercancel", (event) => fingers.delete(event.pointerId));
canvas.addEventListener("pointermove", (event) => {
  const before = fingers.get(event.pointerId);
  if (!before) return;
  const dx = event.clientX - before[0], dy = event.clientY - before[1];
  if (fingers.size === 1) {
    turn -= dx * 0.008;
    tilt = Math.min(1.5, Math.max(-1.5, tilt + dy * 0.008));
  } else {
    near *= Math.exp(-dy * 0.005);
  }
  fingers.set(event.pointerId, [event.clientX, event.clientY]);
  draw();
});
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  near *= Math.exp(-event.deltaY * 0.001);
  draw();
}, { passive: false });
addEventListener("resize", draw);

slider.max = scene.poses.length - 1;
closest.hidden = !scene.nearest;
frame();
draw();
